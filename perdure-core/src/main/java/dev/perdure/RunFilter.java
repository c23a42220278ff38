package dev.perdure;

import dev.perdure.attribute.Condition;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.internal.text.Names;
import dev.perdure.internal.text.Reserved;
import dev.perdure.internal.text.Texts;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Selects the runs of {@link Operations#runs(RunFilter)}: those for which everything that the filter names is true. A
 * list has the newest runs first, one page at a time; the next page is {@code filter.after(lastOfTheList)}. Immutable.
 *
 * <pre>{@code
 * RunFilter.all().definition("order").state(RunState.FAILED, RunState.PAUSED).reason("java.net.")
 * }</pre>
 */
public final class RunFilter {
    private static final int DEFAULT_LIMIT = 100;
    private static final int MAX_LIMIT = 10_000;
    private static final int MAX_TEXT = 200;

    private static final RunFilter ALL = new RunFilter(new Draft());

    /**
     * A stretch of time.
     *
     * @param start its first instant
     * @param end the instant before which it ends
     */
    public record Period(Instant start, Instant end) {
        /** Checks that both are given. */
        public Period {
            Texts.requireGiven("start", start);
            Texts.requireGiven("end", end);
        }

        /** Whether this instant is in it. */
        public boolean contains(Instant time) {
            return !time.isBefore(start) && time.isBefore(end);
        }
    }

    private final Draft draft;

    /** The filter while one of its conditions is being changed; never changed afterwards. */
    private static final class Draft {
        private Set<RunState> states = Set.of();
        private @Nullable String definition;
        private @Nullable String queue;
        private @Nullable String key;
        private @Nullable String version;
        private @Nullable RunId parent;
        private @Nullable RunId root;
        private @Nullable RunId schedule;
        private @Nullable String idPrefix;
        private @Nullable String reasonPrefix;
        private List<Condition> conditions = List.of();
        private @Nullable Period created;
        private @Nullable Period ended;
        private boolean withoutEngineRuns;
        private boolean oldestFirst;
        private @Nullable RunInfo after;
        private int limit = DEFAULT_LIMIT;

        private Draft copy() {
            Draft copy = new Draft();
            copy.states = states;
            copy.definition = definition;
            copy.queue = queue;
            copy.key = key;
            copy.version = version;
            copy.parent = parent;
            copy.root = root;
            copy.schedule = schedule;
            copy.idPrefix = idPrefix;
            copy.reasonPrefix = reasonPrefix;
            copy.conditions = conditions;
            copy.created = created;
            copy.ended = ended;
            copy.withoutEngineRuns = withoutEngineRuns;
            copy.oldestFirst = oldestFirst;
            copy.after = after;
            copy.limit = limit;
            return copy;
        }
    }

    private RunFilter(Draft draft) {
        this.draft = draft;
    }

    private RunFilter with(Consumer<Draft> change) {
        Draft changed = draft.copy();
        change.accept(changed);
        return new RunFilter(changed);
    }

    /** All runs, newest first, 100 per page. */
    public static RunFilter all() {
        return ALL;
    }

    /** Only runs in one of these states, in place of those named before. */
    public RunFilter state(RunState... values) {
        Texts.requireGiven("list of states", values);
        Arrays.stream(values).forEach(value -> Texts.requireGiven("state", value));
        if (values.length == 0) {
            throw new InvalidRequestException("The filter names no state. Give at least one, or leave state(…) out.");
        }
        Set<RunState> states = Collections.unmodifiableSet(EnumSet.copyOf(Arrays.asList(values)));
        return with(next -> next.states = states);
    }

    /** Only runs of this definition. */
    public RunFilter definition(String name) {
        Texts.requireName("definition", name);
        return with(next -> next.definition = name);
    }

    /** Only runs in this queue. */
    public RunFilter queue(String name) {
        Texts.requireName("queue", name);
        return with(next -> next.queue = name);
    }

    /** Only runs under this key of their queue: see {@link StartOptions#key}. */
    public RunFilter key(String value) {
        Texts.requireName("key", value);
        return with(next -> next.key = value);
    }

    /** Only runs that are pinned to this version: see {@link StartOptions#version}. */
    public RunFilter version(String tag) {
        Texts.requireName("version", tag);
        return with(next -> next.version = tag);
    }

    /** Only the children and tasks of this run, of all its lives. */
    public RunFilter parent(RunId run) {
        Texts.requireGiven("parent", run);
        return with(next -> next.parent = run);
    }

    /**
     * Only this run and all runs below it: its children and tasks, their children and tasks, and so on. The store reads
     * all of them, whatever the limit.
     */
    public RunFilter root(RunId run) {
        Texts.requireGiven("root", run);
        return with(next -> next.root = run);
    }

    /** Only runs that this schedule has started. */
    public RunFilter schedule(String name) {
        Texts.requireGiven("schedule", name);
        RunId run = RunId.of(Reserved.SCHEDULE + name);
        return with(next -> next.schedule = run);
    }

    /** Only runs whose ids begin with this text. */
    public RunFilter idPrefix(String text) {
        Names.require("prefix of the id", text, MAX_TEXT);
        return with(next -> next.idPrefix = text);
    }

    /**
     * Only runs that failed, were cancelled or skipped, or are paused, and whose reason begins with this text. The
     * reason of a run that failed begins with the class of its exception.
     *
     * @param text the beginning of the reason, at most 200 characters
     */
    public RunFilter reason(String text) {
        Names.require("beginning of the reason", text, MAX_TEXT);
        return with(next -> next.reasonPrefix = text);
    }

    /** Only runs for whose attributes this holds too: {@code where(CUSTOMER.is("c-7"))}. */
    public RunFilter where(Condition condition) {
        Texts.requireGiven("condition", condition);
        List<Condition> more = new ArrayList<>(draft.conditions);
        more.add(condition);
        return with(next -> next.conditions = List.copyOf(more));
    }

    /** Only runs created at or after {@code start} and before {@code end}. */
    public RunFilter created(Instant start, Instant end) {
        Period period = new Period(start, end);
        return with(next -> next.created = period);
    }

    /** Only runs that have ended, at or after {@code start} and before {@code end}. */
    public RunFilter ended(Instant start, Instant end) {
        Period period = new Period(start, end);
        return with(next -> next.ended = period);
    }

    /** Without the engine's own runs: schedules and bulk actions. */
    public RunFilter withoutEngineRuns() {
        return with(next -> next.withoutEngineRuns = true);
    }

    /** Lists the oldest runs first. */
    public RunFilter oldestFirst() {
        return with(next -> next.oldestFirst = true);
    }

    /** The page that begins after this run, the last of the page before. */
    public RunFilter after(RunInfo last) {
        Texts.requireGiven("last run", last);
        return with(next -> next.after = last);
    }

    /** The number of runs per page at most. */
    public RunFilter limit(int count) {
        if (count < 1 || count > MAX_LIMIT) {
            throw new InvalidRequestException(
                    "The limit is %s; it is 1 to %s. Page with after(…).".formatted(count, MAX_LIMIT));
        }
        return with(next -> next.limit = count);
    }

    /** The states to select; empty for all. */
    public Set<RunState> states() {
        return draft.states;
    }

    /** The definition to select, if any. */
    public Optional<String> definition() {
        return Optional.ofNullable(draft.definition);
    }

    /** The queue to select, if any. */
    public Optional<String> queue() {
        return Optional.ofNullable(draft.queue);
    }

    /** The key to select, if any. */
    public Optional<String> key() {
        return Optional.ofNullable(draft.key);
    }

    /** The version to select, if any. */
    public Optional<String> version() {
        return Optional.ofNullable(draft.version);
    }

    /** The run whose children and tasks to select, if any. */
    public Optional<RunId> parent() {
        return Optional.ofNullable(draft.parent);
    }

    /** The run to select with all runs below it, if any. */
    public Optional<RunId> root() {
        return Optional.ofNullable(draft.root);
    }

    /** The schedule to select, if any: the run that it is. */
    public Optional<RunId> schedule() {
        return Optional.ofNullable(draft.schedule);
    }

    /** What the ids begin with, if anything. */
    public Optional<String> idPrefix() {
        return Optional.ofNullable(draft.idPrefix);
    }

    /** What the reasons begin with, if anything. */
    public Optional<String> reason() {
        return Optional.ofNullable(draft.reasonPrefix);
    }

    /** What has to hold for their attributes. */
    public List<Condition> conditions() {
        return draft.conditions;
    }

    /** When the runs were created, if it matters. */
    public Optional<Period> created() {
        return Optional.ofNullable(draft.created);
    }

    /** When the runs ended, if it matters. */
    public Optional<Period> ended() {
        return Optional.ofNullable(draft.ended);
    }

    /** Whether the engine's own runs are left out. */
    public boolean isWithoutEngineRuns() {
        return draft.withoutEngineRuns;
    }

    /** Whether a list has the oldest runs first. */
    public boolean isOldestFirst() {
        return draft.oldestFirst;
    }

    /** The last run of the page before, if any. */
    public Optional<RunInfo> after() {
        return Optional.ofNullable(draft.after);
    }

    /** The size of a page. */
    public int limit() {
        return draft.limit;
    }
}
