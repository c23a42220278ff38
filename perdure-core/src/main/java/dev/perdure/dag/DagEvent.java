package dev.perdure.dag;

import java.time.Instant;

/**
 * Something that happened to a task of a run of a {@link Dag}.
 *
 * @param at when it became durable, by the store's clock
 * @param task which task
 * @param what what
 * @param detail more about it, or empty
 */
public record DagEvent(Instant at, String task, What what, String detail) {
    /** What happens to a task. */
    public enum What {
        /** It waits for those it comes after. */
        PENDING,
        /** All it comes after have ended, and it waits for a worker. */
        QUEUED,
        /** A worker has it. */
        STARTED,
        /** An attempt failed, and another follows. */
        RETRIED,
        /** It waits for a time, an event or what a durable function waits for. */
        WAITING,
        /** It waits for a person. */
        PAUSED,
        /** It gave its output. */
        COMPLETED,
        /** It failed. */
        FAILED,
        /** It was cancelled. */
        CANCELLED,
        /** It was skipped. */
        SKIPPED
    }
}
