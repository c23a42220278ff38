package dev.perdure.memory;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.retention.Retention;
import dev.perdure.retention.RetentionInfo;
import dev.perdure.spi.Audit;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Removals;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Parent;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Removes runs whose retention is over, each with its children and tasks. A batch has the lock of the tables, so it
 * removes such a group as a whole.
 */
final class MemoryRemovals implements Removals {
    private static final Duration LONGEST_REST = Duration.ofMinutes(1);

    private final Tables tables;
    private final MemoryStartKeys keys;
    private Retention declared = Retention.standard();
    private @Nullable Retention changed;
    private @Nullable Instant began;
    private @Nullable Instant next;
    private long looked;
    private long removed;

    MemoryRemovals(Tables tables, MemoryStartKeys keys) {
        this.tables = tables;
        this.keys = keys;
    }

    @Override
    public void declare(Retention retention) {
        tables.inTransaction(() -> declared = retention);
    }

    @Override
    public void change(@Nullable Retention retention, @Nullable Audit audit) {
        tables.<@Nullable Retention>inTransaction(() -> {
            if (!Objects.equals(changed, retention)) {
                tables.audits.add(audit);
                changed = retention;
                next = null;
            }
            return retention;
        });
    }

    @Override
    public RetentionInfo info() {
        return tables.inTransaction(() -> new RetentionInfo(
                declared,
                Optional.ofNullable(changed),
                new RetentionInfo.Pass(Optional.ofNullable(began), looked, removed),
                Optional.ofNullable(next)));
    }

    @Override
    public Removed remove(int limit) {
        return tables.inTransaction(() -> {
            Retention rules = changed == null ? declared : changed.inPlaceOf(declared);
            Instant now = tables.now();
            tables.audits.remove(rules.audit());
            Map<Row, List<Row>> children = children();
            List<Row> roots = tables.byKey.values().stream()
                    .filter(row -> parentOf(row) == null)
                    .sorted(Comparator.comparingLong(row -> row.ref.key()))
                    .toList();
            int count = 0;
            boolean more = false;
            for (Row root : roots) {
                List<Row> group = new ArrayList<>();
                collect(root, children, group);
                boolean over = group.stream().allMatch(row -> isOver(row, rules, now));
                more |= over && count >= limit;
                if (over && count < limit) {
                    boolean remembered = group.stream().anyMatch(row -> isRemembered(row, rules, now));
                    for (Row row : group) {
                        count += remembered ? strip(row) : tables.remove(row);
                    }
                }
            }
            began = now;
            next = more ? null : now.plus(rest(rules));
            looked = (long) tables.byKey.size() + count;
            removed = count;
            return new Removed(count, more ? Duration.ZERO : rest(rules));
        });
    }

    @Override
    public Outcome delete(RunId run, Change.Seen seen, Audit audit) {
        return tables.inTransaction(() -> {
            Row row = tables.byId.get(run);
            if (row == null
                    || tables.audits.has(audit)
                    || !seen.equals(new Change.Seen(row.createdAt, row.changedAt))) {
                return new Outcome.UnknownRun();
            }
            Row parent = parentOf(row);
            Holders holders = new Holders(
                    parent == null ? null : parent.ref.id().value(), keys.names(row), isCopied(row, tables.now()));
            String refusal = Removals.refusal(run, row.state, holders);
            List<Row> group = new ArrayList<>();
            collect(row, children(), group);
            if (refusal == null && group.stream().anyMatch(each -> !each.state.isTerminal() || keys.names(each))) {
                refusal = Removals.livesBelow(run);
            }
            if (refusal != null) {
                return new Outcome.Refused(refusal);
            }
            RunState state = row.state;
            group.forEach(tables::remove);
            tables.audits.add(audit);
            return new Outcome.Applied(tables.now(), state);
        });
    }

    private static boolean isCopied(Row row, Instant now) {
        return row.start.admission().unanswered() && row.createdAt.plus(COPIES).isAfter(now);
    }

    private Map<Row, List<Row>> children() {
        Map<Row, List<Row>> children = new HashMap<>();
        for (Row row : tables.byKey.values()) {
            Row parent = parentOf(row);
            if (parent != null) {
                children.computeIfAbsent(parent, first -> new ArrayList<>()).add(row);
            }
        }
        return children;
    }

    /** Whether a run stays with its parent, or because a start key names it. */
    boolean isKept(Row row) {
        return parentOf(row) != null || keys.names(row);
    }

    /** The run with which it stays, if there is one. */
    private @Nullable Row parentOf(Row row) {
        Parent parent = row.start.parent();
        return parent == null || parent.isReport()
                ? null
                : tables.byKey.get(parent.run().key());
    }

    private static void collect(Row row, Map<Row, List<Row>> children, List<Row> group) {
        group.add(row);
        children.getOrDefault(row, List.of()).forEach(child -> collect(child, children, group));
    }

    private boolean isOver(Row row, Retention rules, Instant now) {
        return row.state.isTerminal()
                && isOver(row, rules.period(row.start.definition(), row.start.queue(), row.state), now)
                && !keys.names(row)
                && !isCopied(row, now);
    }

    private static boolean isOver(Row row, Duration period, Instant now) {
        return !period.equals(Retention.FOREVER) && !row.changedAt.plus(period).isAfter(now);
    }

    private static boolean isRemembered(Row row, Retention rules, Instant now) {
        return rules.ids().map(period -> !isOver(row, period, now)).orElse(false);
    }

    /** Leaves id, input and outcome. */
    private int strip(Row row) {
        if (row.stripped) {
            return 0;
        }
        row.stripped = true;
        row.journal.clear();
        row.entered.clear();
        row.mailbox.drop();
        row.published.clear();
        row.reports.clear();
        row.lines.clear();
        tables.post.forgetTokens(row.ref.id());
        return 1;
    }

    private static Duration rest(Retention rules) {
        Duration rest = Removals.rest(rules);
        return rest.compareTo(LONGEST_REST) > 0 ? LONGEST_REST : rest;
    }
}
