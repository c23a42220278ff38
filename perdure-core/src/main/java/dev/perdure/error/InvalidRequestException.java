package dev.perdure.error;

/**
 * An argument cannot be used. Nothing was written.
 */
public final class InvalidRequestException extends PerdureException {
    private static final long serialVersionUID = 1L;

    /** For the engine. */
    public InvalidRequestException(String message) {
        super(message, null);
    }
}
