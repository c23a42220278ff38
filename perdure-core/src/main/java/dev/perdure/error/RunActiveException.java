package dev.perdure.error;

/** The request needs a run that has ended, and this run is still active. */
public final class RunActiveException extends PerdureException {
    private static final long serialVersionUID = 1L;

    /** For the engine. */
    public RunActiveException(String message) {
        super(message, null);
    }
}
