package dev.perdure.memory;

import dev.perdure.internal.time.SystemClockwork;
import dev.perdure.spi.Clockwork;
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
import dev.perdure.spi.shard.Exchange;
import dev.perdure.spi.statistics.Statistics;
import dev.perdure.status.StoreHealth;
import dev.perdure.status.StoreStatus;
import java.util.Optional;

/**
 * A store in this process's memory. It supports every guarantee except durability: several engines can share it, leases
 * end, and stale workers are fenced. Use it in tests and for experiments.
 */
public final class MemoryStore implements Store {
    private static final int LANES = 2;

    private final Tables tables;
    private final MemoryLedger ledger;
    private final MemoryLeases leases;
    private final MemoryDispatch dispatch;
    private final MemoryQueries queries;
    private final MemoryRemovals removals;
    private final MemoryPayloads payloads;

    /** An empty store in real time. */
    public MemoryStore() {
        this(new SystemClockwork());
    }

    /** An empty store that gets its time from this supplier. */
    public MemoryStore(Clockwork clockwork) {
        this(clockwork, false);
    }

    private MemoryStore(Clockwork clockwork, boolean lanesFence) {
        this.tables = new Tables(clockwork);
        this.ledger = new MemoryLedger(tables, lanesFence);
        this.leases = new MemoryLeases(tables);
        this.dispatch = new MemoryDispatch(tables, ledger);
        this.queries = new MemoryQueries(tables);
        this.payloads = new MemoryPayloads(tables);
        this.removals = new MemoryRemovals(tables, ledger.keys);
    }

    /**
     * An empty store that fences like one on a database. The lane of a worker that has its lease is enough for a change
     * that leaves its run where it is: the store does not check whether the worker still holds the run. The store
     * contract allows both, and the stricter check is the default. Use this one to test what the looser one permits.
     */
    public static MemoryStore fencingByLanes(Clockwork clockwork) {
        return new MemoryStore(clockwork, true);
    }

    @Override
    public Ledger ledger() {
        return ledger;
    }

    @Override
    public Leases leases() {
        return leases;
    }

    @Override
    public Dispatch dispatch() {
        return dispatch;
    }

    @Override
    public Journals journals() {
        return queries;
    }

    @Override
    public Mailboxes mailboxes() {
        return tables.post;
    }

    @Override
    public States states() {
        return tables.objects;
    }

    @Override
    public Payloads payloads() {
        return payloads;
    }

    @Override
    public StoredValues values() {
        return new MemoryValues(tables);
    }

    @Override
    public Runs runs() {
        return queries;
    }

    @Override
    public QueueRules queues() {
        return tables.queues;
    }

    @Override
    public Permits permits() {
        return tables.permits;
    }

    @Override
    public VersionRules versions() {
        return tables.versions;
    }

    @Override
    public Reports reports() {
        return tables.reports;
    }

    @Override
    public ReactionRules reactions() {
        return tables.reactions;
    }

    @Override
    public Statistics statistics() {
        return new MemoryStatistics(tables);
    }

    @Override
    public Removals removals() {
        return removals;
    }

    @Override
    public StoreStatus status() {
        return new MemoryStatus(tables, removals).read();
    }

    @Override
    public StoreHealth health() {
        return new MemoryStatus(tables, removals).health();
    }

    @Override
    public Hints hints() {
        return tables::subscribe;
    }

    @Override
    public Optional<Exchange> exchange() {
        return Optional.of(tables.exchange);
    }

    @Override
    public int lanes() {
        return LANES;
    }

    /** Frees nothing. The rows stay, so that a test can continue with another engine. */
    @Override
    public void close() {}
}
