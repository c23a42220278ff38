package dev.perdure.error;

/**
 * Thrown once into a workflow whose run has exceeded its timeout. Catch it to compensate. If the workflow lets it
 * through, the run fails.
 */
public final class DeadlineExceededException extends PerdureException {
    private static final long serialVersionUID = 1L;

    /** For the engine. */
    public DeadlineExceededException(String message) {
        super(message, null);
    }
}
