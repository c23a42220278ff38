package dev.perdure.spi;

import dev.perdure.spi.payload.Payloads;
import dev.perdure.spi.payload.StoredValues;
import dev.perdure.spi.report.Reports;
import dev.perdure.spi.shard.Exchange;
import dev.perdure.spi.shard.Parts;
import dev.perdure.spi.statistics.Statistics;
import dev.perdure.status.StoreHealth;
import dev.perdure.status.StoreStatus;
import java.util.Optional;

/**
 * Stores the runs. Each role is small and has its own part of the conformance suite. Thread-safe. No method runs user
 * code, and none holds a lock or a transaction between two calls.
 */
public interface Store extends AutoCloseable {
    /** Applies changes. */
    Ledger ledger();

    /** Tracks workers and their leases. */
    Leases leases();

    /** Gives workers their work. */
    Dispatch dispatch();

    /** Reads the journals of runs. */
    Journals journals();

    /** Reads the mail of runs and what they publish. */
    Mailboxes mailboxes();

    /** Reads the state of virtual objects. */
    States states();

    /** Keeps large payloads. */
    Payloads payloads();

    /** Finds encrypted values and replaces their bytes. */
    StoredValues values();

    /** Answers queries about runs. */
    Runs runs();

    /** Keeps the limits of queues. */
    QueueRules queues();

    /** Keeps the limiters of steps. */
    Permits permits();

    /** Keeps which versions of workers drain. */
    VersionRules versions();

    /** Keeps what steps report while they run. */
    Reports reports();

    /** Keeps the reactions. */
    ReactionRules reactions();

    /** Reads many runs at once, for statistics. */
    Statistics statistics();

    /** Removes old runs. */
    Removals removals();

    /** How it is, for operators. This may take as long as a look at all runs that have not ended. */
    StoreStatus status();

    /** Whether it works, for health checks, which come every few seconds from every process. */
    StoreHealth health();

    /** Tells engines that something may have changed. */
    Hints hints();

    /** How many batches a worker should send concurrently. Each takes a lane, and in a database a connection. */
    int lanes();

    /** The parts that fail independently of each other. A store on one server has one: itself. */
    default Parts parts() {
        return Parts.whole(this);
    }

    /** What it keeps to be one of several shards; empty if it cannot be one. */
    default Optional<Exchange> exchange() {
        return Optional.empty();
    }

    /** Frees the resources that the store itself holds. Calling it again has no effect. */
    @Override
    void close();
}
