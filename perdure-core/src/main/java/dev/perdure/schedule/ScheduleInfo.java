package dev.perdure.schedule;

import dev.perdure.RunId;
import dev.perdure.RunState;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A schedule as the store has it.
 *
 * @param name its name
 * @param definition the name of what it runs
 * @param when its times in words, such as {@code every day at 02:00 in Europe/Berlin (cron 0 2 * * *)}
 * @param source where it comes from
 * @param status whether it fires
 * @param next its next five fire times at most
 * @param recent the last ten runs that it started, newest first
 * @param health how the last runs went
 */
public record ScheduleInfo(
        String name,
        String definition,
        String when,
        Source source,
        Status status,
        List<Instant> next,
        List<Recent> recent,
        Health health) {
    /** Copies the lists. */
    public ScheduleInfo {
        next = List.copyOf(next);
        recent = List.copyOf(recent);
    }

    /** Where a schedule comes from. */
    public enum Source {
        /** The code declares it. */
        CODE,
        /** The code declares it, and it was changed at run time. */
        CHANGED,
        /** It was made at run time. */
        RUN_TIME
    }

    /**
     * Whether a schedule fires.
     *
     * @param paused why it is paused, if it is
     * @param orphaned why no worker fires it, if it is due and none does: live workers do not declare it
     * @param fired how many runs it has started at fire times
     * @param waiting how many fire times wait until a run has ended
     */
    public record Status(Optional<String> paused, Optional<String> orphaned, long fired, int waiting) {}

    /**
     * A run that a schedule started.
     *
     * @param run its id
     * @param scheduledFor for which time
     * @param state its state; empty if it is not there, such as after retention
     */
    public record Recent(RunId run, Instant scheduledFor, Optional<RunState> state) {}

    /**
     * How the last runs went.
     *
     * @param failures how many have failed since one last completed
     * @param lastSuccess when one last completed
     * @param lastSkipped the last fire time without a run
     * @param skipReason why it has none
     */
    public record Health(
            int failures, Optional<Instant> lastSuccess, Optional<Instant> lastSkipped, Optional<String> skipReason) {}
}
