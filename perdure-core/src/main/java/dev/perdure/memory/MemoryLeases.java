package dev.perdure.memory;

import dev.perdure.RunChange;
import dev.perdure.RunState;
import dev.perdure.spi.Leases;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.version.WorkerInfo.Heap;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Keeps leases by the monotonic clock, which virtual time does not move. */
final class MemoryLeases implements Leases {
    private final Tables tables;

    MemoryLeases(Tables tables) {
        this.tables = tables;
    }

    @Override
    public Instant join(Joining joining) {
        return tables.inTransaction(() -> {
            Tables.Worker worker = tables.workers.computeIfAbsent(joining.id(), id -> new Tables.Worker(joining));
            extend(worker);
            joining.former().forEach(former -> {
                tables.workers.remove(former);
                tables.takeBack(former);
            });
            return tables.now();
        });
    }

    @Override
    public @Nullable Instant renew(WorkerId id, Heap heap) {
        return tables.<@Nullable Instant>inTransaction(() -> {
            Tables.Worker worker = tables.workers.get(id);
            if (worker == null) {
                return null;
            }
            extend(worker);
            worker.heap = heap;
            return tables.now();
        });
    }

    private void extend(Tables.Worker worker) {
        worker.leaseEnds = tables.nanoTime() + worker.joining.lease().toNanos();
    }

    @Override
    public List<RunChange> sweep(int limit) {
        return tables.inTransaction(() -> {
            tables.workers.values().removeIf(worker -> worker.leaseEnds - tables.nanoTime() <= 0);
            List<RunChange> changes = new ArrayList<>();
            for (Row row : List.copyOf(tables.byKey.values())) {
                boolean orphan = row.state == RunState.RUNNING && !tables.workers.containsKey(row.owner);
                if (orphan && changes.size() < limit) {
                    changes.add(tables.takeOver(row));
                }
            }
            tables.exchange.swept();
            return changes;
        });
    }

    @Override
    public List<Owned> owned(WorkerId worker) {
        return tables.inTransaction(() -> tables.byKey.values().stream()
                .filter(row -> row.state == RunState.RUNNING && worker.equals(row.owner))
                .map(row -> new Owned(row.ref, row.epoch))
                .toList());
    }

    @Override
    public void leave(WorkerId id) {
        tables.inTransaction(() -> tables.workers.remove(id));
    }
}
