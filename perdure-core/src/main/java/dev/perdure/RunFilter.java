package dev.perdure;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.internal.text.Texts;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Selects the runs that {@link Perdure#list(RunFilter)} returns, newest first, one page at a time. Immutable. The next
 * page is {@code filter.after(lastOfTheList)}.
 */
public final class RunFilter {
    private static final int DEFAULT_LIMIT = 100;
    private static final int MAX_LIMIT = 10_000;
    private static final RunFilter ALL = new RunFilter(null, null, null, null, null, DEFAULT_LIMIT);

    private final @Nullable RunState state;
    private final @Nullable String definition;
    private final @Nullable Instant from;
    private final @Nullable Instant until;
    private final @Nullable RunInfo after;
    private final int limit;

    private RunFilter(
            @Nullable RunState state,
            @Nullable String definition,
            @Nullable Instant from,
            @Nullable Instant until,
            @Nullable RunInfo after,
            int limit) {
        if (limit < 1 || limit > MAX_LIMIT) {
            throw new InvalidRequestException(
                    "The limit is %d; it is 1 to %d. Page with after(…).".formatted(limit, MAX_LIMIT));
        }
        this.state = state;
        this.definition = definition;
        this.from = from;
        this.until = until;
        this.after = after;
        this.limit = limit;
    }

    /** All runs, 100 per page. */
    public static RunFilter all() {
        return ALL;
    }

    /** Only runs in this state. */
    public RunFilter state(RunState value) {
        Texts.requireGiven("state", value);
        return new RunFilter(value, definition, from, until, after, limit);
    }

    /** Only runs of this definition. */
    public RunFilter definition(String name) {
        Texts.requireGiven("definition", name);
        return new RunFilter(state, name, from, until, after, limit);
    }

    /** Only runs created at or after {@code start} and before {@code end}. */
    public RunFilter created(Instant start, Instant end) {
        Texts.requireGiven("end", end);
        Texts.requireGiven("start", start);
        return new RunFilter(state, definition, start, end, after, limit);
    }

    /** The page that begins after this run, the last of the page before. */
    public RunFilter after(RunInfo last) {
        Texts.requireGiven("last run", last);
        return new RunFilter(state, definition, from, until, last, limit);
    }

    /** The number of runs per page at most. */
    public RunFilter limit(int count) {
        return new RunFilter(state, definition, from, until, after, count);
    }

    /** The state to select, if any. */
    public Optional<RunState> state() {
        return Optional.ofNullable(state);
    }

    /** The definition to select, if any. */
    public Optional<String> definition() {
        return Optional.ofNullable(definition);
    }

    /** The earliest creation time, if any. */
    public Optional<Instant> from() {
        return Optional.ofNullable(from);
    }

    /** The creation time before which the list ends, if any. */
    public Optional<Instant> until() {
        return Optional.ofNullable(until);
    }

    /** The last run of the page before, if any. */
    public Optional<RunInfo> after() {
        return Optional.ofNullable(after);
    }

    /** The size of a page. */
    public int limit() {
        return limit;
    }
}
