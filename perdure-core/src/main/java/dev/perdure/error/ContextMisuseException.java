package dev.perdure.error;

/**
 * A context was used where it cannot work: inside a step body, from another thread, or after its run left memory.
 */
public final class ContextMisuseException extends PerdureException {
    private static final long serialVersionUID = 1L;

    /** For the engine. */
    public ContextMisuseException(String message) {
        super(message, null);
    }
}
