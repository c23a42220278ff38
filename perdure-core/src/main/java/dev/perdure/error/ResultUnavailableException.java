package dev.perdure.error;

/** A result did not arrive in time, or the waiting thread was interrupted. The run itself continues. */
public final class ResultUnavailableException extends PerdureException {
    private static final long serialVersionUID = 1L;

    /** For the engine. */
    public ResultUnavailableException(String message) {
        super(message, null);
    }
}
