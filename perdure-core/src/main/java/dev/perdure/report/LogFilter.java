package dev.perdure.report;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.internal.text.Texts;

/**
 * Which log lines of a run to read. Immutable.
 *
 * <pre>{@code
 * LogPage page = run.log(LogFilter.oldest(100));
 * while (!page.lines().isEmpty()) {
 *     page.lines().forEach(line -> System.out.println(line.text()));
 *     page = run.log(LogFilter.oldest(100).after(page.lines().getLast()));
 * }
 * }</pre>
 */
public final class LogFilter {
    private static final int MOST = 1_000;

    private final int limit;
    private final boolean newest;
    private final long after;

    private LogFilter(int limit, boolean newest, long after) {
        this.limit = limit;
        this.newest = newest;
        this.after = after;
    }

    /** The oldest lines that are kept, at most so many. */
    public static LogFilter oldest(int limit) {
        return new LogFilter(required(limit), false, 0);
    }

    /** The newest lines, at most so many. The page has them oldest first. */
    public static LogFilter newest(int limit) {
        return new LogFilter(required(limit), true, 0);
    }

    private static int required(int limit) {
        if (limit < 1 || limit > MOST) {
            throw new InvalidRequestException(
                    "The limit of log lines is %s; it must be from 1 to %s.".formatted(limit, MOST));
        }
        return limit;
    }

    /** Only lines after this one. */
    public LogFilter after(LogLine line) {
        Texts.requireGiven("log line", line);
        return new LogFilter(limit, newest, line.number());
    }

    /** How many lines at most. */
    public int limit() {
        return limit;
    }

    /** Whether the newest lines are wanted, and not the oldest. */
    public boolean isNewest() {
        return newest;
    }

    /** The number of the line after which to begin; 0 for the first. */
    public long after() {
        return after;
    }
}
