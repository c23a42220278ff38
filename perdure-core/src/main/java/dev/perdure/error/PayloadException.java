package dev.perdure.error;

import org.jspecify.annotations.Nullable;

/**
 * A value cannot be stored, read back as its declared type, or is too large. Nothing of it was written.
 */
public final class PayloadException extends PerdureException {
    private static final long serialVersionUID = 1L;

    /** For codecs and the engine. */
    public PayloadException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    /** For codecs and the engine. */
    public PayloadException(String message) {
        super(message, null);
    }
}
