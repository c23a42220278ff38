package dev.perdure.memory;

import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.Parent;
import dev.perdure.spi.change.RunRef;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Decides which runs a filter selects. */
final class MemoryFilter {
    /** The states in which the reason of a run stays. */
    private static final Set<RunState> WITH_REASON =
            EnumSet.of(RunState.PAUSED, RunState.FAILED, RunState.CANCELLED, RunState.SKIPPED);

    private final Tables tables;
    private final RunFilter filter;

    MemoryFilter(Tables tables, RunFilter filter) {
        this.tables = tables;
        this.filter = filter;
    }

    boolean selects(Row row) {
        return (filter.states().isEmpty() || filter.states().contains(row.state))
                && equal(filter.definition(), row.start.definition())
                && !(filter.isWithoutEngineRuns() && row.start.definition().startsWith(Runs.OF_THE_ENGINE))
                && equal(filter.queue(), row.start.queue())
                && equal(filter.key(), row.start.queueKey())
                && equal(filter.version(), row.start.version())
                && holds(filter.parent(), id -> isStartedBy(row, id))
                && holds(filter.root(), id -> isBelow(row, id))
                && holds(filter.schedule(), id -> isFiredBy(row, id))
                && holds(filter.idPrefix(), prefix -> row.ref.id().value().startsWith(prefix))
                && holds(
                        filter.reason(),
                        prefix ->
                                WITH_REASON.contains(row.state) && row.reason != null && row.reason.startsWith(prefix))
                && filter.conditions().stream().allMatch(condition -> condition.holds(row.description.attributes()))
                && holds(filter.created(), period -> period.contains(row.createdAt))
                && holds(filter.ended(), period -> row.state.isTerminal() && period.contains(row.changedAt));
    }

    private static boolean equal(Optional<String> wanted, @Nullable String value) {
        return holds(wanted, text -> text.equals(value));
    }

    private static <T> boolean holds(Optional<T> wanted, Predicate<T> condition) {
        return wanted.map(condition::test).orElse(true);
    }

    private static boolean isStartedBy(Row row, RunId id) {
        RunRef parent = parent(row);
        return parent != null && parent.id().equals(id);
    }

    private static boolean isFiredBy(Row row, RunId schedule) {
        Parent parent = row.start.parent();
        return parent != null && parent.isReport() && parent.run().id().equals(schedule);
    }

    private boolean isBelow(Row row, RunId root) {
        @Nullable Row each = row;
        while (each != null && !each.ref.id().equals(root)) {
            RunRef parent = parent(each);
            each = parent == null ? null : tables.byKey.get(parent.key());
        }
        return each != null;
    }

    private static @Nullable RunRef parent(Row row) {
        Parent parent = row.start.parent();
        return parent == null || parent.isReport() ? null : parent.run();
    }
}
