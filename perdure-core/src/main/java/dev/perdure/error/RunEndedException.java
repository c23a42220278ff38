package dev.perdure.error;

/** The run has ended, so it cannot receive anything. */
public final class RunEndedException extends PerdureException {
    private static final long serialVersionUID = 1L;

    /** For the engine. */
    public RunEndedException(String message) {
        super(message, null);
    }
}
