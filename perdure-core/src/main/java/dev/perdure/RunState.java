package dev.perdure;

/**
 * Where a run is in its life. Which state may follow which is one table, {@link dev.perdure.spi.Lifecycle}, with the
 * diagram in {@code docs/internals/lifecycle.md}.
 */
public enum RunState {
    /** Waits for parents, or for its object key, to be free. */
    PENDING,
    /** Could run now, and waits for a worker that has its definition. */
    READY,
    /** A worker holds it in memory. */
    RUNNING,
    /** Waits for a timer, a message, an answer or a child, holding neither thread nor heap. */
    SUSPENDED,
    /** Waits to try a failed step again, holding neither thread nor heap. */
    BACKING_OFF,
    /** Waits for a person: an operator paused it, it was recovered too often, or its code no longer fits its journal. */
    PAUSED,
    /** Ended with a result. */
    COMPLETED,
    /** Ended with an exception that left the workflow. */
    FAILED,
    /** Ended by cancel or kill. */
    CANCELLED,
    /** Ended without having run, because a condition said so. */
    SKIPPED;

    /** Whether this outcome is final. */
    public boolean isTerminal() {
        return this == COMPLETED || this == FAILED || this == CANCELLED || this == SKIPPED;
    }
}
