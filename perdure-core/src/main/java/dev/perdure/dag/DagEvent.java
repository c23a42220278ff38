package dev.perdure.dag;

import java.time.Instant;

/**
 * An event of a task in a run of a {@link Dag}.
 *
 * @param at when it became durable, by the store's clock
 * @param task the task
 * @param what what happened
 * @param detail more about it, or empty
 */
public record DagEvent(Instant at, String task, What what, String detail) {
    /** What happened to a task. */
    public enum What {
        /** It waits for the tasks that it comes after. */
        PENDING,
        /** All tasks that it comes after have ended, and it waits for a worker. */
        QUEUED,
        /** A worker holds it. */
        STARTED,
        /** An attempt failed, and another follows. */
        RETRIED,
        /** It waits for a time or an event, or its workflow waits. */
        WAITING,
        /** It waits for an operator. */
        PAUSED,
        /** It completed, and its output is recorded. */
        COMPLETED,
        /** It failed. */
        FAILED,
        /** It was cancelled. */
        CANCELLED,
        /** It was skipped. */
        SKIPPED
    }
}
