package dev.perdure.error;

/** What was asked of a run can only be done when it has ended. */
public final class RunActiveException extends PerdureException {
    private static final long serialVersionUID = 1L;

    /** For the engine. */
    public RunActiveException(String message) {
        super(message, null);
    }
}
