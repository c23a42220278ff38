package dev.perdure.error;

/**
 * A run with this id exists already, with another definition or another input.
 */
public final class RunConflictException extends PerdureException {
    private static final long serialVersionUID = 1L;

    /** For the engine. */
    public RunConflictException(String message) {
        super(message, null);
    }
}
