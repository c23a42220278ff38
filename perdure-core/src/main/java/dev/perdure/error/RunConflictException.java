package dev.perdure.error;

/** A run with this id already exists, with a different definition or input. */
public final class RunConflictException extends PerdureException {
    private static final long serialVersionUID = 1L;

    /** For the engine. */
    public RunConflictException(String message) {
        super(message, null);
    }
}
