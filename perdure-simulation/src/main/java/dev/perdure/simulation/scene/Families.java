package dev.perdure.simulation.scene;

import dev.perdure.Child;
import dev.perdure.ChildOptions;
import dev.perdure.Invocation;
import dev.perdure.RunId;
import dev.perdure.StartOptions;
import dev.perdure.TypeRef;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Children, some of which have children, and a run that continues as new. */
public final class Families implements Scene {
    private final Cast cast;

    /** For one history. */
    public Families(Cast cast) {
        this.cast = cast;
    }

    /** The workflows. */
    public static final class Code {
        private final Families scene;

        Code(Families scene) {
            this.scene = scene;
        }

        /** One, and what its two children give, down to generation 0. */
        @Workflow("parent")
        public int parent(WorkflowContext ctx, int generation) {
            if (generation == 0) {
                ctx.step("work", () -> scene.cast.pause());
                return 1;
            }
            List<Child<Integer>> children = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                children.add(ctx.startChild(
                        Invocation.of(Code::parent, generation - 1), ChildOptions.childId(ctx.runId() + "." + i)));
            }
            int sum = 1;
            for (Child<Integer> child : children) {
                sum += child.await();
            }
            return sum;
        }

        /** Counts its lives. */
        @Workflow("reborn")
        public int reborn(WorkflowContext ctx, int life) {
            ctx.step("live", () -> scene.cast.pause());
            ctx.sleep(Duration.ofSeconds(life));
            if (life < 3) {
                throw ctx.continueAsNew(life + 1);
            }
            return life;
        }
    }

    @Override
    public void register() {
        cast.register(new Code(this));
    }

    @Override
    public void play() {
        cast.perdure().start(Code::parent, 2, StartOptions.id("parent"));
        cast.pauseUpTo(Duration.ofMillis(20));
        // A start that is asked for again after the run has begun anew finds the run, whatever its input is by now.
        cast.call(perdure -> perdure.start(Code::reborn, 1, StartOptions.id("reborn")));
        if (cast.choices().oneIn(3) || cast.isAimedAt("Effect.Cancel")) {
            cast.pauseUpTo(Duration.ofMillis(20));
            cast.call(perdure -> perdure.run(RunId.of("parent"), TypeRef.of(Integer.class))
                    .cancel("the caller does not need it any more"));
        }
    }

    @Override
    public void check() {
        if (cast.completed("parent")) {
            Cast.must(cast.result("parent", Integer.class) == 7, "The family counts wrong.");
        }
        if (cast.completed("reborn")) {
            Cast.must(cast.result("reborn", Integer.class) == 3, "It ended in the wrong life.");
        }
    }
}
