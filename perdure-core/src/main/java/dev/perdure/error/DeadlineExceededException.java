package dev.perdure.error;

/**
 * Delivered once into a workflow whose run outlived its timeout. Catch it to compensate; let it through to fail the run.
 */
public final class DeadlineExceededException extends PerdureException {
    private static final long serialVersionUID = 1L;

    /** For the engine. */
    public DeadlineExceededException(String message) {
        super(message, null);
    }
}
