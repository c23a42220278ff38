package dev.perdure.memory;

import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.Parent;
import dev.perdure.spi.shard.RunSelection;
import dev.perdure.spi.shard.RunSelection.Origins;
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

    private final @Nullable Origins origins;

    MemoryFilter(Tables tables, RunSelection selection) {
        this.tables = tables;
        this.filter = selection.filter();
        this.origins = selection.origins();
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

    private boolean isStartedBy(Row row, RunId id) {
        Parent parent = parent(row);
        return parent != null
                && !parent.isReport()
                && (origins == null
                        ? parent.run().id().equals(id)
                        : parent.run().key() == origins.parent());
    }

    private boolean isFiredBy(Row row, RunId schedule) {
        Parent parent = parent(row);
        return parent != null
                && parent.isReport()
                && (origins == null
                        ? parent.run().id().equals(schedule)
                        : parent.run().key() == origins.schedule());
    }

    private @Nullable Parent parent(Row row) {
        return origins == null ? row.start.parent() : tables.exchange.links().parent(row);
    }

    private boolean isBelow(Row row, RunId root) {
        @Nullable Row each = row;
        while (each != null && !isRoot(each, root)) {
            Parent parent = each.start.parent();
            each = parent == null || parent.isReport()
                    ? null
                    : tables.byKey.get(parent.run().key());
        }
        return each != null;
    }

    private boolean isRoot(Row row, RunId root) {
        return origins == null ? row.ref.id().equals(root) : origins.roots().contains(row.ref.key());
    }
}
