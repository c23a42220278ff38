package dev.perdure.schedule;

import dev.perdure.Topic;
import dev.perdure.WorkflowContext;
import dev.perdure.internal.text.Texts;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * Why a schedule started a run: for which time, and when.
 *
 * <pre>{@code
 * Fire fire = Fire.of(ctx).orElseThrow();
 * Report report = ctx.step("collect", () -> collect(fire.previous().orElse(Instant.EPOCH), fire.scheduledFor()));
 * }</pre>
 *
 * @param schedule the name of the schedule
 * @param scheduledFor the fire time; of a run that was triggered by hand, when it was
 * @param previous the fire time before this one that the schedule has started a run for, if there is any
 * @param firedAt when the schedule started the run, by the clock of the store
 */
public record Fire(String schedule, Instant scheduledFor, Optional<Instant> previous, Instant firedAt) {
    private static final Topic<Fire> TOPIC = Topic.of("perdure.fire", Fire.class);

    /** How the run that was started by a schedule gets it. For the engine. */
    public static Topic<Fire> topic() {
        return TOPIC;
    }

    /** Why this run was started; empty if no schedule started it. The same on every replay. */
    public static Optional<Fire> of(WorkflowContext ctx) {
        Texts.requireGiven("context", ctx);
        return ctx.promise(TOPIC).await(Duration.ZERO);
    }

    /** How late the schedule started the run. */
    public Duration lateness() {
        return Duration.between(scheduledFor, firedAt);
    }
}
