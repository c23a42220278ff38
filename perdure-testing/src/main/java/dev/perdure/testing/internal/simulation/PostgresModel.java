package dev.perdure.testing.internal.simulation;

import dev.perdure.RunChange;
import dev.perdure.spi.Dispatch;
import dev.perdure.spi.Hints;
import dev.perdure.spi.Journals;
import dev.perdure.spi.Leases;
import dev.perdure.spi.Ledger;
import dev.perdure.spi.Mailboxes;
import dev.perdure.spi.Permits;
import dev.perdure.spi.QueueRules;
import dev.perdure.spi.Removals;
import dev.perdure.spi.Runs;
import dev.perdure.spi.States;
import dev.perdure.spi.Store;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Move;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Behaviour that PostgreSQL allows and the stricter in-memory store does not.
 *
 * <ul>
 *   <li>The lane alone fences an append: entries of a worker that still lives are kept, although it holds the run under a
 *       later epoch by now. A transaction step is not an append: it locks the run and compares the epoch.
 *   <li>A poll is several statements, and each sees what was committed before it: others run in between.
 *   <li>A batch waits for locks: others commit before it, although it was sent first.
 * </ul>
 */
final class PostgresModel implements Store {
    private static final long MOST_WAIT = Duration.ofMillis(1).toNanos();

    private final Store store;
    private final Scheduler scheduler;

    PostgresModel(Store store, Scheduler scheduler) {
        this.store = store;
        this.scheduler = scheduler;
    }

    private void others() {
        if (scheduler.choices().oneIn(4)) {
            scheduler.pause(scheduler.choices().between(1, MOST_WAIT));
        }
    }

    @Override
    public Ledger ledger() {
        return (lane, changes) -> {
            others();
            return store.ledger()
                    .apply(
                            lane,
                            changes.stream().map(change -> fenced(lane, change)).toList());
        };
    }

    private Change fenced(Lane lane, Change change) {
        if (lane.worker() == null
                || !(change instanceof Change.Advance advance)
                || !(advance.move() instanceof Move.Stay)
                || advance.entries().stream().anyMatch(entry -> entry.kind() == Entry.Kind.TRANSACTION)
                || !advance.effects().isEmpty()) {
            return change;
        }
        return store.leases().owned(lane.worker()).stream()
                .filter(owned -> owned.run().equals(advance.run()))
                .findFirst()
                .<Change>map(
                        owned -> new Change.Advance(advance.run(), owned.epoch(), advance.entries(), advance.move()))
                .orElse(change);
    }

    @Override
    public Dispatch dispatch() {
        return request -> {
            Dispatch.Polled due = store.dispatch().poll(request.forAtMost(0, false));
            others();
            Dispatch.Polled polled = store.dispatch().poll(request);
            List<Dispatch.Signalled> signalled = new ArrayList<>(due.signalled());
            List<RunChange> changed = new ArrayList<>(due.changed());
            changed.addAll(polled.changed());
            return new Dispatch.Polled(
                    polled.claimed(),
                    scheduler.choices().oneIn(2) ? signalled : polled.signalled(),
                    polled.nextDue(),
                    polled.aloneWaits(),
                    changed,
                    polled.limited());
        };
    }

    @Override
    public Leases leases() {
        return store.leases();
    }

    @Override
    public Journals journals() {
        return store.journals();
    }

    @Override
    public Mailboxes mailboxes() {
        return store.mailboxes();
    }

    @Override
    public States states() {
        return store.states();
    }

    @Override
    public Runs runs() {
        return store.runs();
    }

    @Override
    public QueueRules queues() {
        return store.queues();
    }

    @Override
    public Permits permits() {
        return store.permits();
    }

    @Override
    public Removals removals() {
        return store.removals();
    }

    @Override
    public Hints hints() {
        return store.hints();
    }

    @Override
    public int lanes() {
        return store.lanes();
    }

    @Override
    public void close() {
        store.close();
    }
}
