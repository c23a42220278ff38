package dev.perdure.spi.report;

import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;

/**
 * Keeps log lines of the step whose body runs on the current thread. The appender of a logging library passes each line
 * on:
 *
 * <pre>{@code
 * protected void append(ILoggingEvent event) {
 *     if (StepLog.isOpen()) {
 *         StepLog.append(Level.INFO, event.getLoggerName(), event.getFormattedMessage());
 *     }
 * }
 * }</pre>
 *
 * <p>A line costs the body only a place in memory. Without a body on this thread, nothing happens.
 */
public final class StepLog {
    private static final ThreadLocal<@Nullable Sink> CURRENT = new ThreadLocal<>();

    private StepLog() {}

    /** The attempt whose body runs on a thread. */
    @FunctionalInterface
    public interface Sink {
        /** Keeps a line. Does not wait and does not throw. */
        void append(Level level, String logger, String text);
    }

    /** Whether the body of a step runs on this thread. */
    public static boolean isOpen() {
        return CURRENT.get() != null;
    }

    /** Keeps a line, if the body of a step runs on this thread. */
    public static void append(Level level, String logger, String text) {
        Sink sink = CURRENT.get();
        if (sink != null) {
            sink.append(level, logger, text);
        }
    }

    /** For the engine: a body begins on this thread. */
    public static void open(Sink sink) {
        CURRENT.set(sink);
    }

    /** For the engine: the body on this thread has ended. */
    public static void close() {
        CURRENT.remove();
    }
}
