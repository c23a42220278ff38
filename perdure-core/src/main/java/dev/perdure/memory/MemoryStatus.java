package dev.perdure.memory;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.retention.Retention;
import dev.perdure.retention.RetentionInfo;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.status.Finding;
import dev.perdure.status.StoreHealth;
import dev.perdure.status.StoreStatus;
import dev.perdure.status.StoreStatus.InState;
import dev.perdure.status.StoreStatus.Removal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Says how the store is. It has no tables and no transactions. */
final class MemoryStatus {
    private static final Comparator<Row> BY_AGE =
            Comparator.comparing((Row row) -> row.createdAt).thenComparingLong(row -> row.ref.key());

    private static final int MOST_FINDINGS = 10;

    private final Tables tables;
    private final MemoryRemovals removals;

    MemoryStatus(Tables tables, MemoryRemovals removals) {
        this.tables = tables;
        this.removals = removals;
    }

    StoreStatus read() {
        RetentionInfo retention = removals.info();
        return tables.inTransaction(() -> {
            int workers = workers();
            List<InState> runs = live();
            List<Finding> findings = new ArrayList<>();
            runs.stream()
                    .filter(ready -> ready.state() == RunState.READY && workers == 0)
                    .map(Finding::noWorker)
                    .forEach(findings::add);
            if (workers > 0) {
                grouped(this::isUnregistered).map(Finding::notRegistered).forEach(findings::add);
                grouped(tables.waitReasons::allDrain).map(Finding::allDrain).forEach(findings::add);
                tables.versions.list().stream()
                        .flatMap(version -> Finding.noVersion(version).stream())
                        .limit(MOST_FINDINGS)
                        .forEach(findings::add);
            }
            pausedCalls().map(Finding::pausedCall).forEach(findings::add);
            return new StoreStatus(
                    tables.now(), workers, runs, removal(retention), List.of(), Optional.empty(), findings);
        });
    }

    StoreHealth health() {
        return tables.inTransaction(() -> {
            List<Row> ready = tables.byKey.values().stream()
                    .filter(row -> row.state == RunState.READY)
                    .limit(StoreHealth.MOST_READY)
                    .toList();
            return new StoreHealth(
                    workers(),
                    ready.size(),
                    ready.stream().map(row -> row.changedAt).min(Comparator.naturalOrder()));
        });
    }

    private int workers() {
        return Math.toIntExact(tables.workers.values().stream()
                .filter(worker -> worker.leaseEnds - tables.nanoTime() > 0)
                .count());
    }

    private boolean isLate(Row row) {
        return !row.changedAt.plus(Finding.PATIENCE).isAfter(tables.now());
    }

    private boolean isUnregistered(Row row) {
        return tables.workers.values().stream().noneMatch(worker -> worker.suits(row));
    }

    /** By definition and version, those of which most runs wait first. */
    private Stream<Finding.Unregistered> grouped(Predicate<Row> waits) {
        Map<List<String>, List<Row>> byCode = tables.byKey.values().stream()
                .filter(row -> row.state == RunState.READY && isLate(row) && waits.test(row))
                .sorted(BY_AGE)
                .collect(Collectors.groupingBy(
                        row -> List.of(row.start.definition(), Objects.requireNonNullElse(row.start.version(), ""))));
        return byCode.values().stream()
                .sorted(Comparator.comparingInt((List<Row> rows) -> -rows.size())
                        .thenComparing(rows -> rows.getFirst().start.definition()))
                .limit(MOST_FINDINGS)
                .map(rows -> new Finding.Unregistered(
                        rows.getFirst().start.definition(),
                        Optional.ofNullable(rows.getFirst().start.version()),
                        rows.size(),
                        rows.getFirst().ref.id(),
                        rows.getFirst().createdAt));
    }

    /** Those that were paused first. */
    private Stream<Finding.PausedCall> pausedCalls() {
        return tables.byKey.values().stream()
                .filter(row -> row.state == RunState.PAUSED && isLate(row) && tables.objects.isAwaited(row))
                .sorted(Comparator.comparing((Row row) -> row.changedAt).thenComparingLong(row -> row.ref.key()))
                .limit(MOST_FINDINGS)
                .map(row -> {
                    ObjectKey object =
                            Objects.requireNonNull(row.start.object()).object();
                    return new Finding.PausedCall(
                            row.ref.id(),
                            object.type(),
                            object.key(),
                            row.changedAt,
                            Objects.requireNonNullElse(row.reason, ""));
                });
    }

    private List<InState> live() {
        List<InState> all = new ArrayList<>();
        for (RunState state : RunState.values()) {
            List<Row> rows = tables.byKey.values().stream()
                    .filter(row -> row.state == state && !state.isTerminal())
                    .toList();
            rows.stream()
                    .min(BY_AGE)
                    .ifPresent(oldest -> all.add(new InState(state, rows.size(), oldest.ref.id(), oldest.createdAt)));
        }
        return all;
    }

    private Removal removal(RetentionInfo retention) {
        Duration shortest = retention.effective().shortest();
        List<RunId> due = tables.byKey.values().stream()
                .filter(row -> row.state.isTerminal()
                        && !row.stripped
                        && !shortest.equals(Retention.FOREVER)
                        && !removals.isKept(row)
                        && !row.changedAt.plus(shortest).isAfter(tables.now()))
                .sorted(BY_AGE)
                .map(row -> row.ref.id())
                .toList();
        return new Removal(
                Math.min(due.size(), Removal.BOUND),
                due.size() > Removal.BOUND,
                due.stream().findFirst(),
                retention.nextPass());
    }
}
