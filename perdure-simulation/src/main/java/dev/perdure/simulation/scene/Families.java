package dev.perdure.simulation.scene;

import dev.perdure.Child;
import dev.perdure.ChildOptions;
import dev.perdure.ChildOptions.Sticky;
import dev.perdure.Invocation;
import dev.perdure.RunId;
import dev.perdure.StartOptions;
import dev.perdure.TypeRef;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.error.RunFailedException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Children, some of which have children or belong to the worker of their parent, and a run that continues as new. */
public final class Families implements Scene {
    private final Cast cast;
    private final boolean sticky;

    /** For one history. */
    public Families(Cast cast) {
        this.cast = cast;
        this.sticky = cast.choices().oneIn(2);
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
                ChildOptions options = ChildOptions.childId(ctx.runId() + "." + i);
                children.add(ctx.startChild(
                        Invocation.of(Code::parent, generation - 1),
                        scene.sticky ? options.sticky(i == 0 ? Sticky.HARD : Sticky.SOFT) : options));
            }
            int sum = 1;
            for (Child<Integer> child : children) {
                sum += outcome(ctx, child, generation - 1);
            }
            return sum;
        }

        /** If the worker of a child is gone, another child does the same anywhere. */
        private static int outcome(WorkflowContext ctx, Child<Integer> child, int generation) {
            try {
                return child.await();
            } catch (RunFailedException failed) {
                if (!String.valueOf(failed.getMessage()).contains("that worker is gone")) {
                    throw failed;
                }
                return ctx.startChild(
                                Invocation.of(Code::parent, generation), ChildOptions.childId(child.id() + ".again"))
                        .await();
            }
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
