package dev.perdure.error;

/**
 * A result was not there in time, or the wait for it was interrupted. The run itself goes on.
 */
public final class ResultUnavailableException extends PerdureException {
    private static final long serialVersionUID = 1L;

    /** For the engine. */
    public ResultUnavailableException(String message) {
        super(message, null);
    }
}
