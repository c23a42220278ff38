package dev.perdure.error;

/** An argument is not valid. The engine has written nothing. */
public final class InvalidRequestException extends PerdureException {
    private static final long serialVersionUID = 1L;

    /** For the engine. */
    public InvalidRequestException(String message) {
        super(message, null);
    }
}
