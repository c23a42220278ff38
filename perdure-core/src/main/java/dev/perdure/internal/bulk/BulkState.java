package dev.perdure.internal.bulk;

import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.audit.Operator;
import dev.perdure.bulk.BulkAction;
import dev.perdure.bulk.BulkReport;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.internal.text.Texts;
import java.time.Instant;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a bulk action knows: the input of its run, and of each life of it.
 *
 * @param action what it does
 * @param filter to which runs
 * @param operator who asked for it
 * @param begun since when, or null before its first step
 * @param reached the last run that it has come to, or null at the beginning
 * @param report what it has done so far
 */
public record BulkState(
        BulkAction action,
        StoredFilter filter,
        Operator operator,
        @Nullable Begun begun,
        @Nullable Reached reached,
        BulkReport report) {
    private static final int MAX_MEMO = 2_000;

    /**
     * The beginning.
     *
     * @param at when the bulk action was started; it leaves runs alone that were created later
     * @param expected about how many runs it will come to, for people
     */
    public record Begun(Instant at, String expected) {}

    /** A place in the order in which it walks: by creation and, of one instant, by id. */
    public record Reached(Instant createdAt, RunId run) {}

    /** A new bulk action. */
    public static BulkState of(BulkAction action, RunFilter filter, Operator operator) {
        return new BulkState(action, StoredFilter.of(filter), operator, null, null, BulkReport.NOTHING);
    }

    /** What it is asked to do, for people. */
    public String memo() {
        String reason = action.text().isEmpty() ? "" : ": " + action.text();
        String memo = "%s runs with %s, by %s%s"
                .formatted(action.kind().name().toLowerCase(Locale.ROOT), filter, operator, reason);
        return Texts.shortened(memo, MAX_MEMO);
    }

    /** The same, this far. */
    BulkState at(Begun beginning, Reached place, BulkReport done) {
        return new BulkState(action, filter, operator, beginning, place, done);
    }

    /**
     * The filter with only those of its states that the action is for. Without the engine's own runs, unless it names
     * their definition; these are never moved.
     *
     * @throws InvalidRequestException if there are none
     */
    public static RunFilter targets(BulkAction action, RunFilter filter) {
        Set<RunState> states = EnumSet.copyOf(action.kind().states());
        if (!filter.states().isEmpty()) {
            states.retainAll(filter.states());
        }
        if (states.isEmpty()) {
            throw new InvalidRequestException(
                    "The bulk action %s is for runs in the states %s; the filter selects only %s. Name one of these states, or leave the states out."
                            .formatted(action.kind(), action.kind().states(), filter.states()));
        }
        RunFilter targets = filter.state(states.toArray(RunState[]::new));
        boolean named = filter.definition().isPresent() && !action.kind().moves();
        return named ? targets : targets.withoutEngineRuns();
    }
}
