package dev.perdure.error;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An exception as the journal holds it: the class name, message, stack trace and causes of the original, but not its
 * class. So reading it back never loads a class or runs code of the original.
 */
public final class RecordedException extends Exception {
    private static final long serialVersionUID = 1L;

    private static final int MOST_CHARACTERS = 16_384;
    private static final int MOST_FRAMES = 50;
    private static final int MOST_CAUSES = 8;

    private final String type;

    /** For the engine. */
    public RecordedException(
            String type, @Nullable String message, StackTraceElement[] stack, @Nullable RecordedException cause) {
        super(message, cause);
        this.type = type;
        setStackTrace(stack);
    }

    /**
     * An exception as the journal holds it: a message that is cut if it is very long, the topmost frames, and the first
     * causes. This never throws, although methods of the exception may throw, and its causes may be a circle.
     */
    public static RecordedException of(Throwable thrown) {
        return of(thrown, MOST_CAUSES);
    }

    private static RecordedException of(Throwable thrown, int causes) {
        Throwable cause = causes == 0 ? null : causeOf(thrown);
        String type = thrown instanceof RecordedException recorded
                ? recorded.type
                : thrown.getClass().getName();
        return new RecordedException(
                type, messageOf(thrown), framesOf(thrown), cause == null ? null : of(cause, causes - 1));
    }

    private static @Nullable String messageOf(Throwable thrown) {
        try {
            String message = thrown.getMessage();
            return message == null || message.length() <= MOST_CHARACTERS
                    ? message
                    : message.substring(0, MOST_CHARACTERS) + "…";
        } catch (Throwable broken) {
            return "(its getMessage() threw " + broken.getClass().getName() + ")";
        }
    }

    private static @Nullable Throwable causeOf(Throwable thrown) {
        try {
            return thrown.getCause();
        } catch (Throwable broken) {
            return null;
        }
    }

    private static StackTraceElement[] framesOf(Throwable thrown) {
        try {
            StackTraceElement[] frames = thrown.getStackTrace();
            return Arrays.stream(frames, 0, Math.min(frames.length, MOST_FRAMES))
                    .map(Objects::requireNonNull)
                    .toArray(StackTraceElement[]::new);
        } catch (Throwable broken) {
            return new StackTraceElement[0];
        }
    }

    /** The stack is that of the original. */
    @Override
    @SuppressWarnings("UnsynchronizedOverridesSynchronized") // nothing is filled in
    public Throwable fillInStackTrace() {
        return this;
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
