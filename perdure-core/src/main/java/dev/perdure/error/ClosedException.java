package dev.perdure.error;

/** The engine is closed and did not carry out the request. */
public final class ClosedException extends PerdureException {
    private static final long serialVersionUID = 1L;

    /** For the engine. */
    public ClosedException(String message) {
        super(message, null);
    }
}
