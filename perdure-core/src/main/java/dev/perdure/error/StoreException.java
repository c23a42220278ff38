package dev.perdure.error;

import org.jspecify.annotations.Nullable;

/**
 * The store could not carry out a request. Stores throw it. The engine retries {@link Kind#UNAVAILABLE} without a limit
 * and gives up only on {@link Kind#UNUSABLE}.
 */
public final class StoreException extends PerdureException {
    private static final long serialVersionUID = 1L;

    /** Whether a retry can help. */
    public enum Kind {
        /** The store is out of reach for now. It may or may not have applied the request: send it again. */
        UNAVAILABLE,
        /**
         * The set-up is wrong: missing privileges, the wrong database, a schema that is too new. A retry does not help.
         */
        UNUSABLE
    }

    private final Kind kind;

    /** For stores. */
    public StoreException(Kind kind, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.kind = kind;
    }

    /** Whether a retry can help. */
    public Kind kind() {
        return kind;
    }
}
