package dev.perdure.examples;

import dev.perdure.Perdure;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.memory.MemoryStore;
import dev.perdure.reaction.Occasion;
import dev.perdure.reaction.Reaction;
import dev.perdure.reaction.RunEvent;
import java.time.Duration;

/** Tells people when a run needs them, and keeps the runs that failed as dead letters. */
public final class Alerts {
    /** Reaches the person on call. */
    public interface Pager {
        /** Pages once for each key. */
        void page(String text, String key);
    }

    /** Keeps what could not be done, until a person has looked at it. */
    public interface DeadLetters {
        /** Keeps a run. */
        void keep(String run, String reason);
    }

    private final Pager pager;
    private final DeadLetters letters;

    public Alerts(Pager pager, DeadLetters letters) {
        this.pager = pager;
        this.letters = letters;
    }

    // region workflows
    @Workflow("alert")
    public void alert(WorkflowContext ctx, RunEvent event) {
        String text = "%s is %s: %s".formatted(event.runId(), event.occasion(), event.reason());
        ctx.step("page", () -> pager.page(text, ctx.attempt().idempotencyKey()));
    }

    @Workflow("dead-letter")
    public void deadLetter(WorkflowContext ctx, RunEvent event) {
        ctx.step("keep", () -> letters.keep(event.runId().value(), event.reason()));
    }
    // endregion

    // region declare
    public static final Reaction ALERT = Reaction.named("alert")
            .when(Occasion.FAILED, Occasion.PAUSED)
            .late(Duration.ofHours(1))
            .start(Alerts::alert);

    public static final Reaction DEAD_LETTER =
            Reaction.named("dead-letter").of("order").when(Occasion.FAILED).start(Alerts::deadLetter);
    // endregion

    /** An engine that reacts. */
    public static Perdure engine(Alerts alerts, Object orders) {
        // region register
        Perdure perdure = Perdure.on(new MemoryStore())
                .register(orders, alerts)
                .reactions(ALERT, DEAD_LETTER)
                .start();
        // endregion
        return perdure;
    }
}
