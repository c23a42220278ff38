package dev.perdure.error;

import org.jspecify.annotations.Nullable;

/** Throw it from a step body when a retry is useless: the step fails at once, whatever its retry policy. */
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
