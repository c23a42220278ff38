package dev.perdure.internal.execution;

/** Ends a run as skipped. Thrown by the engine's own functions. */
public final class Skipped extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Skips the run for this reason. */
    public Skipped(String reason) {
        super(reason, null, false, false);
    }
}
