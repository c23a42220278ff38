package dev.perdure.error;

/** Somebody else has settled this promise or awakeable. Only whoever came second gets to know. */
public final class AlreadyResolvedException extends PerdureException {
    private static final long serialVersionUID = 1L;

    /** For the engine. */
    public AlreadyResolvedException(String message) {
        super(message, null);
    }
}
