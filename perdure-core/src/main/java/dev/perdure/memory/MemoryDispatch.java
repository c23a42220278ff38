package dev.perdure.memory;

import dev.perdure.RunState;
import dev.perdure.spi.Dispatch;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Hands out work. */
final class MemoryDispatch implements Dispatch {
    private final Tables tables;

    MemoryDispatch(Tables tables) {
        this.tables = tables;
    }

    @Override
    public Polled poll(Poll request) {
        return tables.inTransaction(() -> {
            if (!tables.workers.containsKey(request.worker())) {
                return new Polled(List.of(), List.of(), null, false);
            }
            wakeDue();
            List<Claimed> claimed = new ArrayList<>();
            boolean aloneWaits = claim(request, claimed);
            return new Polled(claimed, signalled(request), nextDue(), aloneWaits);
        });
    }

    private void wakeDue() {
        Instant now = tables.now();
        while (!tables.timers.isEmpty()) {
            Row first = tables.timers.first();
            if (first.wakeAt == null || first.wakeAt.isAfter(now)) {
                return;
            }
            tables.change(first, RunState.READY, null);
        }
    }

    private @Nullable Instant nextDue() {
        return tables.timers.isEmpty() ? null : tables.timers.first().wakeAt;
    }

    private boolean claim(Poll request, List<Claimed> claimed) {
        boolean aloneWaits = false;
        for (Row row : List.copyOf(tables.ready)) {
            if (!suits(row, request)) {
                continue;
            }
            boolean alone = row.recoveriesWithoutProgress() >= Claimed.ALONE_AFTER;
            if (alone && !(request.aloneToo() && claimed.isEmpty() && request.limit() > 0)) {
                aloneWaits = true;
            } else if (claimed.size() < request.limit()) {
                tables.take(row, request.worker());
                claimed.add(row.claimed());
                if (alone) {
                    break;
                }
            }
        }
        return aloneWaits;
    }

    private static boolean suits(Row row, Poll request) {
        return request.definitions().contains(row.start.definition())
                && request.queues().contains(row.start.queue())
                && (row.start.version() == null || row.start.version().equals(request.version()));
    }

    private List<Signalled> signalled(Poll request) {
        return tables.byKey.values().stream()
                .filter(row -> row.isHeldBy(request.worker(), row.epoch) && row.control.wakes() > 0)
                .map(row -> new Signalled(row.ref, row.epoch, row.control))
                .toList();
    }
}
