package dev.perdure.reaction;

import dev.perdure.RunId;
import java.time.Instant;

/**
 * What has happened to a run: the input of the workflow that a {@link Reaction} starts. It is JSON in the store,
 * whatever the codec of the application, because the store writes it.
 *
 * @param reaction the name of the reaction
 * @param runId the run
 * @param definition the name of its definition
 * @param occasion what has happened
 * @param at when it happened, by the clock of the store; of a late run, when its time was over
 * @param startedAt when the run was started
 * @param reason why the run has failed, was paused or cancelled; of a late run, in which state it was
 */
public record RunEvent(
        String reaction,
        RunId runId,
        String definition,
        Occasion occasion,
        Instant at,
        Instant startedAt,
        String reason) {}
