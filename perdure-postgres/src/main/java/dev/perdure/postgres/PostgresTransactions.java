package dev.perdure.postgres;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.postgres.setup.Preflight;
import dev.perdure.postgres.transaction.TransactionBodies;
import dev.perdure.spi.Transacted;
import dev.perdure.spi.TransactionTicket;
import dev.perdure.spi.Transactor;
import java.sql.Connection;
import javax.sql.DataSource;

/**
 * Transaction steps on the database of Perdure's own tables. The application's changes and the step's record are one
 * commit, so they take effect exactly once, and a worker that has lost the run commits neither.
 *
 * <pre>{@code
 * TransactionSource<Connection> accounts = PostgresTransactions.on(store, pool);
 * }</pre>
 *
 * <p>A body takes a connection and gives it back when it ends. So the number of connections limits how many bodies run
 * at the same time. A body that waits for a connection holds nothing that the engine needs. Thread-safe.
 */
public final class PostgresTransactions implements Transactor<Connection> {
    private static final int DEFAULT_CONNECTIONS = 2;
    static final int MOST_CONNECTIONS = 10_000;

    private final TransactionBodies bodies;

    private PostgresTransactions(TransactionBodies bodies) {
        this.bodies = bodies;
    }

    /**
     * Uses up to two connections from the store's own {@link DataSource}, in addition to those of the store. The pool
     * needs two more connections than the store alone.
     */
    public static PostgresTransactions on(PostgresStore store) {
        return on(store, store.source(), DEFAULT_CONNECTIONS);
    }

    /**
     * Uses connections from a pool of the application, to the same database, under a role that may also write to
     * Perdure's tables.
     */
    public static PostgresTransactions on(PostgresStore store, DataSource pool) {
        return on(store, pool, MOST_CONNECTIONS);
    }

    /** Uses at most this many connections: for a {@link DataSource} without a limit of its own. */
    public static PostgresTransactions on(PostgresStore store, DataSource source, int connections) {
        if (connections < 1) {
            throw new InvalidRequestException(
                    "The number of connections for transaction steps is %s; it is at least 1.".formatted(connections));
        }
        return new PostgresTransactions(
                new TransactionBodies(Preflight.connect(source, connections), store.journalBook()));
    }

    @Override
    public Transacted run(TransactionTicket ticket, Work<Connection> work) throws Exception {
        return bodies.run(ticket, work);
    }
}
