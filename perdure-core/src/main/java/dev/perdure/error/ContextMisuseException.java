package dev.perdure.error;

/**
 * Code used a context where it does not work: inside a step body, on another thread, or after the run has left memory.
 */
public final class ContextMisuseException extends PerdureException {
    private static final long serialVersionUID = 1L;

    /** For the engine. */
    public ContextMisuseException(String message) {
        super(message, null);
    }
}
