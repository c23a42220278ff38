package dev.perdure.simulation.scene;

import static dev.perdure.retention.Retention.runs;

import dev.perdure.ChildOptions;
import dev.perdure.Invocation;
import dev.perdure.Run;
import dev.perdure.RunInfo;
import dev.perdure.StartOptions;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.error.RunFailedException;
import dev.perdure.error.UnknownRunException;
import dev.perdure.retention.Retention;
import java.time.Duration;

/** Runs with children that are removed soon after their end, and whose ids are then used again. */
public final class Passings implements Scene {
    private static final Duration KEPT = Duration.ofSeconds(2);
    private static final String PART = ".part";

    private final Cast cast;

    /** For one history. */
    public Passings(Cast cast) {
        this.cast = cast;
    }

    /** The workflows. */
    public static final class Code {
        private final Passings scene;

        Code(Passings scene) {
            this.scene = scene;
        }

        /** One more than its child gives. */
        @Workflow("passing")
        public int pass(WorkflowContext ctx, int number) {
            ctx.step("work", () -> scene.cast.pause());
            int part = ctx.startChild(Invocation.of(Code::part, number), ChildOptions.childId(ctx.runId() + PART))
                    .await();
            return part + 1;
        }

        /** Its input. */
        @Workflow("passing.part")
        public int part(WorkflowContext ctx, int number) {
            ctx.step("work", () -> scene.cast.pause());
            return number;
        }
    }

    @Override
    public void register() {
        cast.register(new Code(this));
        cast.retention(Retention.of(Retention.FOREVER)
                .keep(runs().definition("passing"), KEPT)
                .keep(runs().definition("passing.part"), KEPT));
    }

    @Override
    public void play() {
        cast.together(() -> pass("pass-a"), () -> pass("pass-b"));
    }

    private void pass(String id) {
        for (int i = 0; i < 3; i++) {
            Run<Integer> run = cast.perdure().start(Code::pass, 7, StartOptions.id(id));
            cast.pauseUpTo(KEPT.multipliedBy(2));
            try {
                int result = run.result();
                Cast.must(result == 8, "The run %s gives %s.", id, result);
            } catch (UnknownRunException removed) {
                cast.pause(); // its result came too late for this caller
            } catch (RunFailedException ended) {
                cast.pause(); // an operator has ended it
            }
        }
    }

    /** A child is never there without its parent. */
    @Override
    public void check() {
        for (RunInfo part : cast.runs("passing.part")) {
            String id = part.id().value();
            String parent = id.substring(0, id.length() - PART.length());
            Cast.must(cast.info(parent).isPresent(), "The child %s is there, and its parent is not.", id);
        }
    }
}
