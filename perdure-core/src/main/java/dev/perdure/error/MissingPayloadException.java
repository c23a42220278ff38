package dev.perdure.error;

/**
 * A large value is not in the payload store, or not as it was written. The message names the payload; who reads it adds
 * the run and what the value is.
 */
public final class MissingPayloadException extends PayloadException {
    private static final long serialVersionUID = 1L;

    /** For the engine. */
    public MissingPayloadException(String message) {
        super(message);
    }
}
