package dev.perdure;

/**
 * There is no run with this id.
 */
public final class UnknownRunException extends PerdureException {
    private static final long serialVersionUID = 1L;

    /** For the engine. */
    public UnknownRunException(String message) {
        super(message, null);
    }
}
