package dev.perdure.error;

import org.jspecify.annotations.Nullable;

/**
 * The store could not carry out a request. Stores throw it. The engine gives up only on {@link Kind#UNUSABLE} and retries
 * everything else without a limit.
 */
public final class StoreException extends PerdureException {
    private static final long serialVersionUID = 1L;

    /** Whether a retry can help. */
    public enum Kind {
        /** The store is out of reach for now. It may or may not have applied the request: send it again. */
        UNAVAILABLE,
        /** What the request is about moves from one shard to another, or has moved. Nothing was applied: send it again. */
        MOVING,
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
