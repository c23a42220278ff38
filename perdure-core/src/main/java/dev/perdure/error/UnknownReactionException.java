package dev.perdure.error;

/** There is no reaction of this name. */
public final class UnknownReactionException extends PerdureException {
    private static final long serialVersionUID = 1L;

    /** For the engine. */
    public UnknownReactionException(String message) {
        super(message, null);
    }
}
