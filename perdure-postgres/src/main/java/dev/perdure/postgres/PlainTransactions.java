package dev.perdure.postgres;

import dev.perdure.postgres.jdbc.GuardedConnection;
import dev.perdure.postgres.transaction.SqlTrouble;
import dev.perdure.spi.Transacted;
import dev.perdure.spi.TransactionTicket;
import dev.perdure.spi.Transactor;
import dev.perdure.spi.change.Entry;
import dev.perdure.transaction.TransactionOptions.Isolation;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import javax.sql.DataSource;

/**
 * Transaction steps on any JDBC {@link DataSource}, for tests on the in-memory store.
 *
 * <p><b>Not exactly once.</b> The body's changes are one transaction, but the step's record is not part of it: the
 * store gets it afterwards. After a crash between the two, the body runs again although its changes are committed, and
 * a worker that has lost the run may still commit. Isolation, rollback, retries, conflicts and the refusal to end the
 * transaction are the same as in production, with {@link PostgresTransactions} or {@link OtherDatabase}.
 */
public final class PlainTransactions implements Transactor<Connection> {
    private final DataSource source;

    private PlainTransactions(DataSource source) {
        this.source = source;
    }

    /** On this database. */
    public static PlainTransactions on(DataSource source) {
        return new PlainTransactions(source);
    }

    @Override
    public Transacted run(TransactionTicket ticket, Work<Connection> work) throws Exception {
        try (Connection connection = source.getConnection()) {
            Found found = new Found(connection);
            begin(connection, ticket);
            GuardedConnection.Lent lent = GuardedConnection.lend(connection);
            try {
                Entry entry = work.perform(lent.connection());
                lent.takeBack().run();
                connection.commit();
                return new Transacted.Completed(entry);
            } catch (Exception | Error thrown) {
                lent.takeBack().run();
                connection.rollback();
                Optional<Transacted> conflict = SqlTrouble.conflict(thrown);
                if (conflict.isPresent()) {
                    return conflict.get();
                }
                throw thrown;
            } finally {
                found.restore(connection);
            }
        }
    }

    /**
     * The settings with which a connection came. It goes back with the same settings, because it may belong to a pool.
     */
    private static final class Found {
        private final boolean autoCommit;
        private final boolean readOnly;
        private final int isolation;

        Found(Connection connection) throws SQLException {
            this.autoCommit = connection.getAutoCommit();
            this.readOnly = connection.isReadOnly();
            connection.setAutoCommit(true); // the question must not begin a transaction
            this.isolation = connection.getTransactionIsolation();
        }

        void restore(Connection connection) throws SQLException {
            connection.setAutoCommit(true);
            connection.setReadOnly(readOnly);
            connection.setTransactionIsolation(isolation);
            connection.setAutoCommit(autoCommit);
        }
    }

    private static void begin(Connection connection, TransactionTicket ticket) throws SQLException {
        connection.setReadOnly(ticket.options().isReadOnly());
        Optional<Isolation> isolation = ticket.options().isolation();
        if (isolation.isPresent()) {
            connection.setTransactionIsolation(
                    switch (isolation.get()) {
                        case READ_COMMITTED -> Connection.TRANSACTION_READ_COMMITTED;
                        case REPEATABLE_READ -> Connection.TRANSACTION_REPEATABLE_READ;
                        case SERIALIZABLE -> Connection.TRANSACTION_SERIALIZABLE;
                    });
        }
        connection.setAutoCommit(false);
    }
}
