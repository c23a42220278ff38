package dev.perdure.error;

import dev.perdure.Saga;

/**
 * Compensations of a {@link Saga} failed. The cause is the failure that made the workflow compensate. Each compensation
 * that failed is a suppressed exception.
 */
public final class CompensationFailedException extends PerdureException {
    private static final long serialVersionUID = 1L;

    /** For the engine. */
    public CompensationFailedException(String message, RuntimeException cause) {
        super(message, cause);
    }
}
