package dev.perdure.error;

import dev.perdure.Saga;

/**
 * Some of what a {@link Saga} had to undo could not be undone. The cause is what made it compensate; each compensation that
 * failed is a suppressed exception.
 */
public final class CompensationFailedException extends PerdureException {
    private static final long serialVersionUID = 1L;

    /** For the engine. */
    public CompensationFailedException(String message, RuntimeException cause) {
        super(message, cause);
    }
}
