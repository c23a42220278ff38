package dev.perdure.postgres.transaction;

import dev.perdure.error.ContextMisuseException;
import dev.perdure.postgres.jdbc.BorrowedConnection;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.spi.TransactionTicket;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;

/**
 * A transaction that has begun.
 *
 * @param ticket the attempt for which it runs
 * @param number PostgreSQL's own number for it
 * @param nanos when it began, by {@link System#nanoTime}
 */
public record BegunTransaction(TransactionTicket ticket, long number, long nanos) {
    /** Sends the first statement of a transaction: its isolation, and how long it may be idle. */
    static BegunTransaction begin(Connection connection, TransactionTicket ticket) throws SQLException {
        long number = BorrowedConnection.withoutSavepoints(connection, on -> number(on, ticket));
        if (number < 0) {
            throw readOnly(connection);
        }
        return new BegunTransaction(ticket, number, System.nanoTime());
    }

    private static long number(Connection connection, TransactionTicket ticket) throws SQLException {
        try (PreparedStatement statement = Database.prepare(connection, TransactionSql.begin(ticket.options()))) {
            new Parameters(statement).text(idleLimit(ticket.lease()).toMillis() + "ms");
            boolean isRow = statement.execute();
            while (!isRow) {
                isRow = statement.getMoreResults();
            }
            try (ResultSet row = statement.getResultSet()) { // Asked once, because c3p0 fails the second time.
                row.next();
                return row.getLong("transaction");
            }
        }
    }

    /**
     * The engine waits for a server that is read-only for now. A pool whose connections are configured as read-only
     * never returns others.
     */
    private static SQLException readOnly(Connection connection) throws SQLException {
        if (connection.isReadOnly()) {
            throw new IllegalStateException(
                    "The pool of a transaction step returns read-only connections. Turn readOnly off in the pool or its URL, or pass another DataSource.");
        }
        return new SQLException("The server is read-only for now.", "25006");
    }

    /** The transaction must end before the lease ends and another worker gets the run. */
    static Duration idleLimit(Duration lease) {
        return lease.multipliedBy(3).dividedBy(4);
    }

    /**
     * Asks the server whether it still has the transaction, if the idle limit may have passed. The query is short,
     * because only the answer to a short statement is sure to be read: during a longer one the connection may close,
     * and then the reason is unknown.
     */
    void requireAlive(Connection connection) throws SQLException {
        if (System.nanoTime() - nanos >= idleLimit(ticket.lease()).toNanos()) {
            try (PreparedStatement statement = Database.planAnew(connection, "SELECT 1")) {
                statement.execute();
            }
        }
    }

    /** Throws if this exception shows that the body has ended the transaction itself. */
    static void requireNotEnded(Exception thrown) {
        if (SqlTrouble.isState(thrown, TransactionSql.ENDED)) {
            throw new ContextMisuseException(
                    "The body of a transaction step has ended its transaction with a COMMIT or ROLLBACK of its own. Its changes before that may be committed without the step's record. Leave the end of the transaction to the engine.");
        }
    }
}
