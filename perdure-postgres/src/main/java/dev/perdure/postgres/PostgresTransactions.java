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
 * Transaction steps on the database that Perdure's own tables are in: the application's changes and the step's record are
 * one commit, so they take effect exactly once, and a worker that has lost the run commits neither.
 *
 * <pre>{@code
 * TransactionSource<Connection> accounts = PostgresTransactions.on(store, pool);
 * }</pre>
 *
 * <p>A connection is taken for the time of a body and given back at once. How many there are bounds how many bodies run at
 * the same time; a body that waits for a connection holds nothing that the engine needs. Thread-safe.
 */
public final class PostgresTransactions implements Transactor<Connection> {
    private static final int DEFAULT_CONNECTIONS = 2;
    static final int MOST_CONNECTIONS = 10_000;

    private final TransactionBodies bodies;

    private PostgresTransactions(TransactionBodies bodies) {
        this.bodies = bodies;
    }

    /**
     * With up to two connections from the store's own {@link DataSource}, beside those that the store uses. Its pool needs
     * to have them: two more than the store itself.
     */
    public static PostgresTransactions on(PostgresStore store) {
        return on(store, store.source(), DEFAULT_CONNECTIONS);
    }

    /**
     * With connections from a pool of the application's own, to the same database, under a role that may also write to
     * Perdure's tables.
     */
    public static PostgresTransactions on(PostgresStore store, DataSource pool) {
        return on(store, pool, MOST_CONNECTIONS);
    }

    /** With so many connections at most: for a {@link DataSource} that has no limit of its own. */
    public static PostgresTransactions on(PostgresStore store, DataSource source, int connections) {
        if (connections < 1) {
            throw new InvalidRequestException(
                    "%d connections were given to transaction steps; they need at least one.".formatted(connections));
        }
        return new PostgresTransactions(
                new TransactionBodies(Preflight.connect(source, connections), store.journalBook()));
    }

    @Override
    public Transacted run(TransactionTicket ticket, Work<Connection> work) throws Exception {
        return bodies.run(ticket, work);
    }
}
