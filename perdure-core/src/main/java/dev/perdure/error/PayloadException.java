package dev.perdure.error;

import org.jspecify.annotations.Nullable;

/**
 * A value cannot be stored, cannot be read back as its declared type, or is too large. The engine has written nothing
 * of it.
 */
public sealed class PayloadException extends PerdureException permits DecryptionException, MissingPayloadException {
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
