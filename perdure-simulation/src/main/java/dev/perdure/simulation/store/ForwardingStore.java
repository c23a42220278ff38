package dev.perdure.simulation.store;

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

/** A store in front of another. */
public abstract class ForwardingStore implements Store {
    private final Store store;

    /** In front of this one. */
    protected ForwardingStore(Store store) {
        this.store = store;
    }

    /** The store behind it. */
    protected final Store behind() {
        return store;
    }

    @Override
    public Ledger ledger() {
        return store.ledger();
    }

    @Override
    public Leases leases() {
        return store.leases();
    }

    @Override
    public Dispatch dispatch() {
        return store.dispatch();
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
    public Payloads payloads() {
        return store.payloads();
    }

    @Override
    public StoredValues values() {
        return store.values();
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
