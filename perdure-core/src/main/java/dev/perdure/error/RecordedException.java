package dev.perdure.error;

import org.jspecify.annotations.Nullable;

/**
 * An exception as the journal holds it: the class name, message, stack trace and causes of the original, but not its
 * class. So reading it back never loads a class or runs code of the original.
 */
public final class RecordedException extends Exception {
    private static final long serialVersionUID = 1L;

    private final String type;

    /** For the engine. */
    public RecordedException(
            String type, @Nullable String message, StackTraceElement[] stack, @Nullable RecordedException cause) {
        super(message, cause);
        this.type = type;
        setStackTrace(stack);
    }

    /** The class name of the original exception. */
    public String type() {
        return type;
    }

    @Override
    @SuppressWarnings(
            "OverrideThrowableToString") // the message stays the original's; a stack trace shows the original's class
    public String toString() {
        String message = getMessage();
        return message == null ? type : type + ": " + message;
    }
}
