package dev.perdure.error;

import org.jspecify.annotations.Nullable;

/**
 * Thrown by a step body to say that trying again is useless: the step fails at once, whatever its retry policy.
 */
public non-sealed class TerminalException extends PerdureException {
    private static final long serialVersionUID = 1L;

    /** A failure that is final. */
    public TerminalException(@Nullable String message) {
        super(message, null);
    }

    /** A failure that is final, with its cause. */
    public TerminalException(@Nullable String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
