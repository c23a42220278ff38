package dev.perdure.error;

/** A promise or awakeable was settled with a failure; the message is the reason that was given. */
public final class RejectedException extends PerdureException {
    private static final long serialVersionUID = 1L;

    /** For the engine. */
    public RejectedException(String message) {
        super(message, null);
    }
}
