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
    private static final int MAX_SUMMARY = 2_000;
    private static final int REPLACEMENT = 0xFFFD;

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
        return of(RecordedException.of(thrown));
    }

    private static Failure of(RecordedException recorded) {
        return new Failure(
                recorded.type(),
                recorded.getMessage(),
                Arrays.stream(recorded.getStackTrace())
                        .map(frame -> new Frame(
                                frame.getClassName(),
                                frame.getMethodName(),
                                frame.getFileName(),
                                frame.getLineNumber()))
                        .toList(),
                recorded.getCause() instanceof RecordedException cause ? of(cause) : null);
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
