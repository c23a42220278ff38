package dev.perdure.internal.execution;

/** Ends a run as skipped. Thrown by functions of the engine's own. */
public final class Skipped extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** For this reason. */
    public Skipped(String reason) {
        super(reason, null, false, false);
    }
}
