package dev.perdure.internal.failure;

import dev.perdure.error.RecordedException;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An exception as the journal holds it. The user's codec encodes it, so that encryption covers error texts too.
 *
 * @param type the class name
 * @param message the message, cut if it is very long
 * @param stack the topmost frames
 * @param cause the cause, up to a depth
 */
public record Failure(
        String type,
        @Nullable String message,
        List<Frame> stack,
        @Nullable Failure cause) {
    private static final int MAX_MESSAGE = 16_384;
    private static final int MAX_SUMMARY = 2_000;
    private static final int REPLACEMENT = 0xFFFD;
    private static final int MAX_FRAMES = 50;
    private static final int MAX_CAUSES = 8;

    /** One frame of a stack. */
    public record Frame(
            String type, String method, @Nullable String file, int line) {
        /** Refuses what nobody has recorded. */
        public Frame {
            Objects.requireNonNull(type, "type");
            Objects.requireNonNull(method, "method");
        }
    }

    /** Refuses what nobody has recorded. */
    public Failure {
        Objects.requireNonNull(type, "type");
        Objects.requireNonNull(stack, "stack").forEach(frame -> Objects.requireNonNull(frame, "frame"));
    }

    /** An exception as data. */
    public static Failure of(Throwable thrown) {
        return of(thrown, MAX_CAUSES);
    }

    private static Failure of(Throwable thrown, int causes) {
        List<Frame> frames = framesOf(thrown);
        Throwable cause = causeOf(thrown);
        String type = thrown instanceof RecordedException recorded
                ? recorded.type()
                : thrown.getClass().getName();
        return new Failure(
                type, cut(messageOf(thrown)), frames, cause == null || causes == 0 ? null : of(cause, causes - 1));
    }

    // Methods of a user's exception may throw anything themselves. That must not prevent the engine from recording the
    // failure.

    private static @Nullable String messageOf(Throwable thrown) {
        try {
            return thrown.getMessage();
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

    private static List<Frame> framesOf(Throwable thrown) {
        try {
            return Arrays.stream(thrown.getStackTrace())
                    .limit(MAX_FRAMES)
                    .map(frame -> new Frame(
                            frame.getClassName(), frame.getMethodName(), frame.getFileName(), frame.getLineNumber()))
                    .toList();
        } catch (Throwable broken) {
            return List.of();
        }
    }

    private static @Nullable String cut(@Nullable String message) {
        return message == null || message.length() <= MAX_MESSAGE ? message : message.substring(0, MAX_MESSAGE) + "…";
    }

    /** The exception to throw for it. */
    public RecordedException toException() {
        StackTraceElement[] elements = stack.stream()
                .map(frame -> new StackTraceElement(frame.type(), frame.method(), frame.file(), frame.line()))
                .toArray(StackTraceElement[]::new);
        return new RecordedException(type, message, elements, cause == null ? null : cause.toException());
    }

    /**
     * A short description that every store can hold. It replaces characters that cannot be stored; only the payload has
     * the whole text.
     */
    public String summary() {
        String whole = message == null ? type : type + ": " + message;
        StringBuilder shown = new StringBuilder();
        whole.codePoints().limit(MAX_SUMMARY).map(Failure::storable).forEach(shown::appendCodePoint);
        return shown.toString();
    }

    private static int storable(int codePoint) {
        return codePoint == 0 || Character.getType(codePoint) == Character.SURROGATE ? REPLACEMENT : codePoint;
    }
}
