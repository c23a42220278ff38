package dev.perdure.shards;

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
import dev.perdure.spi.shard.Parts;
import dev.perdure.spi.statistics.Statistics;
import dev.perdure.status.StoreHealth;
import dev.perdure.status.StoreStatus;

/** The sharded store as the worker of one shard uses it: its leases, work and hints are the shard's own. */
final class ShardView implements Store {
    private final ShardedStore whole;
    private final Shards shards;
    private final int shard;
    private final Store own;
    private final Permits permits;
    private final Runnable waits;

    /** @param waits is run when a limit has held back a poll */
    ShardView(ShardedStore whole, Shards shards, int shard, Permits permits, Runnable waits) {
        this.whole = whole;
        this.shards = shards;
        this.shard = shard;
        this.own = shards.store(shard);
        this.permits = permits;
        this.waits = waits;
    }

    @Override
    public Ledger ledger() {
        return whole.ledger();
    }

    @Override
    public Leases leases() {
        return own.leases();
    }

    @Override
    public Dispatch dispatch() {
        return request -> {
            Dispatch.Polled polled = own.dispatch().poll(request);
            if (polled.limited()) {
                waits.run();
            }
            shards.learn(shard, polled.claimed());
            return polled;
        };
    }

    @Override
    public Journals journals() {
        return whole.journals();
    }

    @Override
    public Mailboxes mailboxes() {
        return whole.mailboxes();
    }

    @Override
    public States states() {
        return whole.states();
    }

    @Override
    public Payloads payloads() {
        return whole.payloads();
    }

    @Override
    public StoredValues values() {
        return whole.values();
    }

    @Override
    public Runs runs() {
        return whole.runs();
    }

    @Override
    public QueueRules queues() {
        return whole.queues();
    }

    @Override
    public Permits permits() {
        return permits;
    }

    /** A worker obeys what its own shard was told; all shards are told the same. */
    @Override
    public VersionRules versions() {
        return own.versions();
    }

    @Override
    public Reports reports() {
        return whole.reports();
    }

    @Override
    public ReactionRules reactions() {
        return whole.reactions();
    }

    @Override
    public Statistics statistics() {
        return whole.statistics();
    }

    @Override
    public Removals removals() {
        return own.removals();
    }

    @Override
    public StoreStatus status() {
        return own.status();
    }

    @Override
    public StoreHealth health() {
        return own.health();
    }

    /** Those of the shard; and, when this process has a newer map, that runs may have moved. */
    @Override
    public Hints hints() {
        return listener -> {
            Hints.Subscription ofShard = own.hints().subscribe(listener);
            Hints.Subscription ofMap = shards.onNewMap(() -> listener.hint(new Hints.PartitionsMoved()));
            return () -> {
                ofMap.close();
                ofShard.close();
            };
        };
    }

    @Override
    public int lanes() {
        return own.lanes();
    }

    @Override
    public Parts parts() {
        return whole.parts();
    }

    /** Closes nothing: the shard belongs to the whole store. */
    @Override
    public void close() {}
}
