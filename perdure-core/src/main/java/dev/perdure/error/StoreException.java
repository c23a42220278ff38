package dev.perdure.error;

import org.jspecify.annotations.Nullable;

/**
 * The store could not do what was asked. Stores throw it; the engine retries what is {@link Kind#UNAVAILABLE} for as
 * long as it takes and gives up only on {@link Kind#UNUSABLE}.
 */
public final class StoreException extends PerdureException {
    private static final long serialVersionUID = 1L;

    /** What a caller can do about it. */
    public enum Kind {
        /** Out of reach for now, and what was sent may or may not have been applied: send it again. */
        UNAVAILABLE,
        /** Wrong set-up: no rights, wrong database, a schema from the future. Trying again does not help. */
        UNUSABLE
    }

    private final Kind kind;

    /** For stores. */
    public StoreException(Kind kind, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.kind = kind;
    }

    /** What a caller can do about it. */
    public Kind kind() {
        return kind;
    }
}
