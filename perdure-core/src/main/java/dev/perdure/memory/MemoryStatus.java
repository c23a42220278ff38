package dev.perdure.memory;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.retention.Retention;
import dev.perdure.retention.RetentionInfo;
import dev.perdure.status.Finding;
import dev.perdure.status.StoreStatus;
import dev.perdure.status.StoreStatus.InState;
import dev.perdure.status.StoreStatus.Removal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** Says how the store is. It has no tables and no transactions. */
final class MemoryStatus {
    private static final Comparator<Row> BY_AGE =
            Comparator.comparing((Row row) -> row.createdAt).thenComparingLong(row -> row.ref.key());

    private final Tables tables;
    private final MemoryRemovals removals;

    MemoryStatus(Tables tables, MemoryRemovals removals) {
        this.tables = tables;
        this.removals = removals;
    }

    StoreStatus read() {
        RetentionInfo retention = removals.info();
        return tables.inTransaction(() -> {
            long workers = tables.workers.values().stream()
                    .filter(worker -> worker.leaseEnds - tables.nanoTime() > 0)
                    .count();
            List<InState> runs = live();
            List<Finding> findings = runs.stream()
                    .filter(ready -> ready.state() == RunState.READY && workers == 0)
                    .map(Finding::noWorker)
                    .toList();
            return new StoreStatus(
                    tables.now(),
                    Math.toIntExact(workers),
                    runs,
                    removal(retention),
                    List.of(),
                    Optional.empty(),
                    findings);
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
