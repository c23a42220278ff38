package dev.perdure.error;

/** What was waited for did not come in time. The same on every replay. */
public final class TimedOutException extends PerdureException {
    private static final long serialVersionUID = 1L;

    /** For the engine. */
    public TimedOutException(String message) {
        super(message, null);
    }
}
