package dev.perdure.bulk;

import dev.perdure.RunId;
import java.util.ArrayList;
import java.util.List;

/**
 * What a bulk action has done: the result of its run.
 *
 * @param changed the runs on which the action took effect. A run that a worker holds has got the command, and obeys it at
 *     its next call
 * @param skipped the runs for which there was nothing left to do when their turn came, because they had ended, were
 *     removed, or had changed in the meantime
 * @param refused the runs that the store refused to change
 * @param refusals the first of the refused runs, {@link #MOST_REFUSALS} at most, with the reasons
 */
public record BulkReport(long changed, long skipped, long refused, List<Refusal> refusals) {
    /** How many refusals a report lists. */
    public static final int MOST_REFUSALS = 100;

    /** The report of an action that has not begun. */
    public static final BulkReport NOTHING = new BulkReport(0, 0, 0, List.of());

    /**
     * A run that was not changed.
     *
     * @param run the run
     * @param reason why not, and what to do
     */
    public record Refusal(RunId run, String reason) {}

    /** Copies the list. */
    public BulkReport {
        refusals = List.copyOf(refusals);
    }

    /** How many runs the action has come to. */
    public long runs() {
        return changed + skipped + refused;
    }

    /** Both reports together. */
    public BulkReport plus(BulkReport next) {
        List<Refusal> first = new ArrayList<>(refusals);
        next.refusals.stream().limit(MOST_REFUSALS - first.size()).forEach(first::add);
        return new BulkReport(changed + next.changed, skipped + next.skipped, refused + next.refused, first);
    }

    /** Such as {@code 12 changed, 3 skipped, 1 refused}. */
    @Override
    public String toString() {
        return "%s changed, %s skipped, %s refused".formatted(changed, skipped, refused);
    }
}
