package dev.perdure;

/**
 * The state of a run. {@link dev.perdure.spi.Lifecycle} is the table of the allowed transitions, and
 * {@code docs/internals/lifecycle.md} shows it as a diagram.
 */
public enum RunState {
    /** Waits for the tasks that it comes after to end, or for its turn on a virtual object. */
    PENDING,
    /** Can run now, and waits for a worker that has its definition. */
    READY,
    /** A worker holds it in memory. */
    RUNNING,
    /** Waits for a timer, a message, an answer or a child, and holds neither a thread nor heap. */
    SUSPENDED,
    /** Waits to retry a failed step, and holds neither a thread nor heap. */
    BACKING_OFF,
    /**
     * Waits for an operator, because an operator paused it, it was recovered too often, or its code no longer matches
     * its journal.
     */
    PAUSED,
    /** Ended with a result. */
    COMPLETED,
    /** Ended with an exception that the workflow threw. */
    FAILED,
    /** Ended by a cancel or a kill. */
    CANCELLED,
    /** Ended without running, because of a condition in its DAG. */
    SKIPPED;

    /** Whether a run in this state has ended. */
    public boolean isTerminal() {
        return this == COMPLETED || this == FAILED || this == CANCELLED || this == SKIPPED;
    }
}
