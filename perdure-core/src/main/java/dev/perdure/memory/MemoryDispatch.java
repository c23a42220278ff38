package dev.perdure.memory;

import dev.perdure.RunChange;
import dev.perdure.RunState;
import dev.perdure.queue.Placement;
import dev.perdure.spi.Dispatch;
import dev.perdure.spi.change.Admission;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Gives workers their work. */
final class MemoryDispatch implements Dispatch {
    private final Tables tables;
    private final MemoryLedger ledger;

    /**
     * Queues with limits and the other queues go first in turns, so that neither kind waits while the other fills the
     * worker.
     */
    private boolean limitedFirst;

    MemoryDispatch(Tables tables, MemoryLedger ledger) {
        this.tables = tables;
        this.ledger = ledger;
    }

    @Override
    public Polled poll(Poll request) {
        return tables.inTransaction(() -> {
            if (!tables.workers.containsKey(request.worker())) {
                return new Polled(List.of(), List.of(), null, false);
            }
            tables.permits.callAll();
            wakeDue();
            ledger.keys.release();
            tables.reactions.findLate();
            List<RunChange> changed = expire();
            changed.addAll(freeFromLostWorkers());
            List<Claimed> claimed = new ArrayList<>();
            if (request.limit() > 0) { // a poll without room takes nobody's turn
                limitedFirst = !limitedFirst;
            }
            boolean aloneWaits = false;
            if (limitedFirst) {
                aloneWaits |= claimLimited(request, claimed);
            }
            aloneWaits |= claim(request, claimed);
            if (!limitedFirst) {
                aloneWaits |= claimLimited(request, claimed);
            }
            boolean limited = !tables.queues.waiting(request).isEmpty();
            return new Polled(claimed, signalled(request), nextDue(request), aloneWaits, changed, limited);
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

    /** Ends runs that should have begun by now. */
    private List<RunChange> expire() {
        Instant now = tables.now();
        List<RunChange> expired = new ArrayList<>();
        while (!tables.startLimits.isEmpty()) {
            Row first = tables.startLimits.first();
            if (startBy(first).isAfter(now) && !first.hasBegun() && !first.state.isTerminal()) {
                break;
            }
            tables.startLimits.remove(first);
            Duration within = Objects.requireNonNull(first.start.admission().startWithin());
            String reason = Admission.expired(within, first.start.queue());
            if (ledger.expire(first, reason)) {
                expired.add(new RunChange(
                        first.ref.id(), first.start.definition(), RunState.CANCELLED, Optional.of(reason)));
            }
        }
        return expired;
    }

    /**
     * Frees ready runs whose worker is gone. A run that prefers it may run on any other. A run that requires it is
     * cancelled first.
     */
    private List<RunChange> freeFromLostWorkers() {
        List<RunChange> cancelled = new ArrayList<>();
        for (Row row : List.copyOf(tables.ready)) {
            Placement placement = row.start.placement();
            Optional<String> lost = placement.worker().filter(id -> !isAlive(id));
            if (lost.isEmpty()) {
                continue;
            }
            if (placement.requiresWorker()) {
                String reason = Placement.gone(lost.get());
                ledger.cancel(row, reason);
                if (row.state == RunState.CANCELLED) {
                    cancelled.add(new RunChange(
                            row.ref.id(), row.start.definition(), RunState.CANCELLED, Optional.of(reason)));
                }
            }
            row.start = row.start.at(placement.withoutWorker());
        }
        return cancelled;
    }

    private boolean isAlive(String worker) {
        return tables.workers.keySet().stream()
                .anyMatch(id -> id.value().toString().equals(worker));
    }

    private static Instant startBy(Row row) {
        return Objects.requireNonNull(row.startBy);
    }

    private @Nullable Instant nextDue(Poll request) {
        Instant timer = tables.timers.isEmpty() ? null : tables.timers.first().wakeAt;
        Instant limit = tables.startLimits.isEmpty() ? null : startBy(tables.startLimits.first());
        Instant rate = tables.queues.nextFree(request).orElse(null);
        Instant permit = tables.permits.nextFree().orElse(null);
        Instant preference = tables.ready.stream()
                .map(tables::prefersUntil)
                .filter(until -> until.isAfter(tables.now()))
                .min(Comparator.naturalOrder())
                .orElse(null);
        Instant late = tables.reactions.nextLate();
        return earliest(late, earliest(preference, earliest(permit, earliest(rate, earliest(timer, limit)))));
    }

    private static @Nullable Instant earliest(@Nullable Instant one, @Nullable Instant other) {
        return one == null || (other != null && other.isBefore(one)) ? other : one;
    }

    private boolean claim(Poll request, List<Claimed> claimed) {
        boolean aloneWaits = false;
        for (Row row : List.copyOf(tables.ready)) {
            if (!suits(row, request) || tables.queues.isMine(row)) {
                continue;
            }
            boolean alone = isAlone(row);
            if (alone && !(request.aloneToo() && claimed.isEmpty() && request.limit() > 0)) {
                aloneWaits = true;
            } else if (claimed.size() < request.limit() && !holdsAlone(claimed)) {
                take(row, request);
                claimed.add(row.claimed());
                if (alone) {
                    break;
                }
            }
        }
        return aloneWaits;
    }

    /**
     * Claims from queues with limits, and from queues with keys. A run that has to run alone waits until no other run
     * may begin.
     */
    private boolean claimLimited(Poll request, List<Claimed> claimed) {
        boolean aloneWaits = false;
        for (String queue : tables.queues.waiting(request)) {
            int room = holdsAlone(claimed) ? 0 : Math.min(request.limit() - claimed.size(), request.limit(queue));
            List<Row> next = tables.queues.next(queue, request, room, row -> suits(row, request) && !isAlone(row));
            next.forEach(row -> take(row, request, claimed));
            List<Row> alone = tables.queues.next(queue, request, 1, row -> suits(row, request) && isAlone(row));
            if (!alone.isEmpty() && request.aloneToo() && claimed.isEmpty() && request.limit(queue) > 0) {
                take(alone.getFirst(), request, claimed);
            } else {
                aloneWaits |= !alone.isEmpty();
            }
        }
        return aloneWaits;
    }

    private void take(Row row, Poll request) {
        tables.take(row, request.worker());
        String version = request.version().pin(row.start.definition(), row.start.version());
        row.start = row.start.in(row.start.queue(), version);
    }

    private void take(Row row, Poll request, List<Claimed> claimed) {
        boolean isNew = row.isNew();
        take(row, request);
        tables.queues.took(row, isNew);
        claimed.add(row.claimed());
    }

    private static boolean isAlone(Row row) {
        return row.recoveriesWithoutProgress() >= Claimed.ALONE_AFTER;
    }

    private static boolean holdsAlone(List<Claimed> claimed) {
        return claimed.stream().anyMatch(Claimed::alone);
    }

    private boolean suits(Row row, Poll request) {
        return request.definitions().contains(row.start.definition())
                && request.queues().contains(row.start.queue())
                && request.version().takes(row.start.definition(), row.start.version())
                && isPlaced(row, request);
    }

    private boolean isPlaced(Row row, Poll request) {
        Placement placement = row.start.placement();
        return tables.prefersUntil(row).isAfter(tables.now())
                ? placement.suits(request.labels())
                : placement.allows(request.labels());
    }

    private List<Signalled> signalled(Poll request) {
        return tables.byKey.values().stream()
                .filter(row -> row.control.wakes() > 0 && row.isHeldBy(request.worker(), row.epoch))
                .map(row -> new Signalled(row.ref, row.epoch, row.control))
                .toList();
    }
}
