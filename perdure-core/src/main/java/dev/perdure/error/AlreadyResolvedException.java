package dev.perdure.error;

/** Another caller has already settled this promise or awakeable. Only the later caller gets this exception. */
public final class AlreadyResolvedException extends PerdureException {
    private static final long serialVersionUID = 1L;

    /** For the engine. */
    public AlreadyResolvedException(String message) {
        super(message, null);
    }
}
