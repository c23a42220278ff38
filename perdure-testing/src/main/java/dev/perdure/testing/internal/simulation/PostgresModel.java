package dev.perdure.testing.internal.simulation;

import dev.perdure.RunChange;
import dev.perdure.memory.MemoryStore;
import dev.perdure.spi.Dispatch;
import dev.perdure.spi.Hints;
import dev.perdure.spi.Journals;
import dev.perdure.spi.Leases;
import dev.perdure.spi.Ledger;
import dev.perdure.spi.Mailboxes;
import dev.perdure.spi.Permits;
import dev.perdure.spi.QueueRules;
import dev.perdure.spi.ReactionRules;
import dev.perdure.spi.Removals;
import dev.perdure.spi.Runs;
import dev.perdure.spi.States;
import dev.perdure.spi.Store;
import dev.perdure.spi.VersionRules;
import dev.perdure.spi.payload.Payloads;
import dev.perdure.spi.payload.StoredValues;
import dev.perdure.spi.report.Reports;
import dev.perdure.spi.statistics.Statistics;
import dev.perdure.status.StoreHealth;
import dev.perdure.status.StoreStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Behaviour that PostgreSQL allows and the stricter in-memory store does not.
 *
 * <ul>
 *   <li>The lane alone fences what leaves a run where it is: entries and effects of a worker that still lives are kept,
 *       although another worker may hold the run by now, and also if it has ended ({@link
 *       MemoryStore#fencingByLanes}). A transaction step locks its run and compares the epoch.
 *   <li>A poll is several statements, and each sees what was committed before it: others run in between.
 *   <li>A batch waits for locks: others commit before it, although it was sent first.
 * </ul>
 */
final class PostgresModel implements Store {
    private static final long MOST_WAIT = Duration.ofMillis(1).toNanos();

    private final Store store;
    private final Scheduler scheduler;

    /** @param server the clockwork of the server */
    PostgresModel(SimulatedProcess server, Scheduler scheduler) {
        this.store = MemoryStore.fencingByLanes(server);
        this.scheduler = scheduler;
    }

    /** Whether others run between two statements, and before locks are free. */
    private boolean othersRun() {
        return scheduler.choices().oneIn(4);
    }

    private void awaitOthers() {
        scheduler.pause(scheduler.choices().between(1, MOST_WAIT));
    }

    @Override
    public Ledger ledger() {
        return (lane, changes) -> {
            if (othersRun()) {
                awaitOthers();
            }
            return store.ledger().apply(lane, changes);
        };
    }

    @Override
    public Dispatch dispatch() {
        return request -> othersRun() ? pollInTwo(request) : store.dispatch().poll(request);
    }

    private Dispatch.Polled pollInTwo(Dispatch.Poll request) {
        Dispatch.Polled due = store.dispatch().poll(request.forAtMost(0, false));
        awaitOthers();
        Dispatch.Polled polled = store.dispatch().poll(request);
        List<RunChange> changed = new ArrayList<>(due.changed());
        changed.addAll(polled.changed());
        return new Dispatch.Polled(
                polled.claimed(),
                scheduler.choices().oneIn(2) ? due.signalled() : polled.signalled(),
                polled.nextDue(),
                polled.aloneWaits(),
                changed,
                polled.limited());
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
    public Payloads payloads() {
        return store.payloads();
    }

    @Override
    public StoredValues values() {
        return store.values();
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
    public ReactionRules reactions() {
        return store.reactions();
    }

    @Override
    public Permits permits() {
        return store.permits();
    }

    @Override
    public VersionRules versions() {
        return store.versions();
    }

    @Override
    public Reports reports() {
        return store.reports();
    }

    @Override
    public Statistics statistics() {
        return store.statistics();
    }

    @Override
    public Removals removals() {
        return store.removals();
    }

    @Override
    public StoreStatus status() {
        return store.status();
    }

    @Override
    public StoreHealth health() {
        return store.health();
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
