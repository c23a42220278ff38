package dev.perdure.error;

/** There is no schedule of this name. */
public final class UnknownScheduleException extends PerdureException {
    private static final long serialVersionUID = 1L;

    /** For the engine. */
    public UnknownScheduleException(String message) {
        super(message, null);
    }
}
