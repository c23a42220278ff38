package dev.perdure.postgres;

import dev.perdure.postgres.transaction.JournalBook;
import dev.perdure.postgres.transaction.TransactionBodies;
import dev.perdure.spi.Transacted;
import dev.perdure.spi.TransactionTicket;
import dev.perdure.spi.Transactor;
import dev.perdure.spi.change.Entry;
import java.sql.Connection;
import java.time.Duration;
import javax.sql.DataSource;

/**
 * Transaction steps of runs of any shard, on the database of one of them: that of the application. For runs of that shard, the
 * application's changes and the step's record are one commit, as with {@link PostgresTransactions}. For runs of other shards,
 * a table records what was done, as with {@link OtherDatabase}. Workflow code does not see the difference, and a step
 * takes effect exactly once in both cases, also if its run moves from one shard to another meanwhile.
 *
 * <pre>{@code
 * PostgresStore a = PostgresStore.on(sourceA).open();
 * Store store = ShardedStore.over(shard("a", a), shard("b", PostgresStore.on(sourceB).open()));
 * ShardTransactions accounts = ShardTransactions.on(a, pool);
 * accounts.migrate();
 * }</pre>
 *
 * <p>A run is on the shard whose worker holds it. For its steps the record and the row in the table are written with the
 * body, and either of them refuses a body that comes second. Thread-safe.
 */
public final class ShardTransactions implements Transactor<Connection> {
    private final OtherDatabase others;
    private final JournalBook journal;
    private final TransactionBodies own;

    private ShardTransactions(PostgresStore shard, OtherDatabase others) {
        this.others = others;
        this.journal = shard.journalBook();
        this.own = others.bodiesWith(journal);
    }

    /**
     * Uses connections from a pool of the application to the database of this shard, under a role that may also write to
     * Perdure's tables there, and a table in the shard's schema.
     *
     * @param shard the store that was given to the sharded store
     */
    public static ShardTransactions on(PostgresStore shard, DataSource pool) {
        return new ShardTransactions(
                shard, OtherDatabase.on(pool, shard.schema().name()));
    }

    /**
     * The same, and deletes rows that are older than this about once an hour. A row is needed until the step is in its run's
     * journal, so the age must be longer than a run can ever be without a worker.
     */
    public static ShardTransactions on(PostgresStore shard, DataSource pool, Duration age) {
        return new ShardTransactions(
                shard, OtherDatabase.on(pool, shard.schema().name(), age));
    }

    /** Creates the table if it does not exist: {@link OtherDatabase#migration} returns the SQL. */
    public void migrate() {
        others.migrate();
    }

    /** Deletes rows that are older than this, now: see {@link OtherDatabase#forget}. */
    public int forget(Duration age) {
        return others.forget(age);
    }

    @Override
    public Transacted run(TransactionTicket ticket, Work<Connection> work) throws Exception {
        if (!journal.isHere(ticket.worker())) {
            return others.run(ticket, work);
        }
        Transacted transacted = own.run(ticket, work);
        others.tidyUp();
        return transacted;
    }

    @Override
    public Entry giveUp(TransactionTicket ticket, Entry failure) {
        return others.giveUp(ticket, failure);
    }
}
