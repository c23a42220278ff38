package dev.perdure.error;

/** A run cannot be retried or forked like this. The message says why, and what to do instead. */
public final class RetryRefusedException extends PerdureException {
    private static final long serialVersionUID = 1L;

    /** For the engine. */
    public RetryRefusedException(String message) {
        super(message, null);
    }
}
