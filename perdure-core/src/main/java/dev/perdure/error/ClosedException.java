package dev.perdure.error;

/**
 * The engine was closed; what was asked of it was not done.
 */
public final class ClosedException extends PerdureException {
    private static final long serialVersionUID = 1L;

    /** For the engine. */
    public ClosedException(String message) {
        super(message, null);
    }
}
