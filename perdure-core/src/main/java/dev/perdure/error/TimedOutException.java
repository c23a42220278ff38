package dev.perdure.error;

/** A wait inside a workflow timed out. Every replay throws the same exception. */
public final class TimedOutException extends PerdureException {
    private static final long serialVersionUID = 1L;

    /** For the engine. */
    public TimedOutException(String message) {
        super(message, null);
    }
}
