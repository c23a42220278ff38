package dev.perdure.error;

/** A promise or awakeable was rejected. The message is the reason that the caller gave. */
public final class RejectedException extends PerdureException {
    private static final long serialVersionUID = 1L;

    /** For the engine. */
    public RejectedException(String message) {
        super(message, null);
    }
}
