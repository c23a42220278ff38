package dev.perdure.error;

import org.jspecify.annotations.Nullable;

/**
 * A definition cannot be registered or found. The message names the class and the method, and says how to write them.
 */
public final class DefinitionException extends PerdureException {
    private static final long serialVersionUID = 1L;

    /** For the engine. */
    public DefinitionException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    /** For the engine. */
    public DefinitionException(String message) {
        super(message, null);
    }
}
