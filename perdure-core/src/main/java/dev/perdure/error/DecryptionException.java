package dev.perdure.error;

/**
 * An encrypted value cannot be read. The message names the place at which it was found and what to do. A run that needs
 * the value is paused and loses nothing.
 */
public final class DecryptionException extends PayloadException {
    private static final long serialVersionUID = 1L;

    private final Reason reason;

    /** Why a value cannot be read. */
    public enum Reason {
        /** This process does not have the key. */
        UNKNOWN_KEY,
        /** The value was changed after it was encrypted, or another key has the same id. */
        CHANGED,
        /** The value was encrypted for another place. */
        MOVED,
        /** The value is not encrypted, and only encrypted values are expected there. */
        NOT_ENCRYPTED
    }

    /** For the engine. */
    public DecryptionException(Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    /** Why it cannot be read. */
    public Reason reason() {
        return reason;
    }
}
