package dev.perdure.error;

/** No awakeable has this token: it is malformed, or its run is gone. */
public final class UnknownTokenException extends PerdureException {
    private static final long serialVersionUID = 1L;

    /** For the engine. */
    public UnknownTokenException(String message) {
        super(message, null);
    }
}
