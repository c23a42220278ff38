package dev.perdure.postgres.transaction;

import dev.perdure.postgres.jdbc.Causes;
import dev.perdure.postgres.jdbc.SqlState;
import dev.perdure.spi.Transacted;
import dev.perdure.spi.TransactionTicket;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import java.util.stream.Stream;
import org.postgresql.core.BaseConnection;
import org.postgresql.core.TransactionState;
import org.postgresql.jdbc.AutoSave;

/**
 * Interprets exceptions from the bodies and commits of transaction steps, however deeply a library has wrapped them.
 */
public final class SqlTrouble {
    private static final String IDLE_IN_TRANSACTION_TIMEOUT = "25P03";
    private static final String TRANSACTION_TIMEOUT = "25P04";

    /** The state of a body's transaction after an exception has left the body. */
    public enum Condition {
        /** Its connection is lost. */
        LOST,
        /** The server has refused a statement of it, or may have: the driver's savepoints hide that. */
        REFUSED,
        /** Nothing is wrong with it. So the exception is not about this transaction, even if a database threw it. */
        WELL;

        /** Reads the state before the transaction is rolled back. Takes no round trip. */
        public static Condition of(Connection connection) {
            try {
                if (connection.isClosed()) {
                    return LOST;
                }
                BaseConnection driver = connection.unwrap(BaseConnection.class);
                return driver.getTransactionState() == TransactionState.OPEN && driver.getAutosave() == AutoSave.NEVER
                        ? WELL
                        : REFUSED;
            } catch (SQLException unknown) {
                return LOST;
            }
        }
    }

    private SqlTrouble() {}

    private static Stream<SQLException> said(Throwable thrown) {
        return Causes.of(thrown).stream()
                .filter(cause -> cause instanceof SQLException said && said.getSQLState() != null)
                .map(SQLException.class::cast);
    }

    /** Whether the database threw this. */
    static boolean isState(Throwable thrown, String state) {
        return said(thrown).anyMatch(said -> state.equals(said.getSQLState()));
    }

    /** Whether the record was refused because the partition of the run moves to another shard, or has moved. */
    static boolean isOfClosedPartition(Throwable thrown) {
        return said(thrown).anyMatch(SqlState::isOfClosedPartition);
    }

    /** Whether the connection was lost. */
    public static boolean isLost(Throwable thrown) {
        return said(thrown).anyMatch(said -> SqlState.of(said) == SqlState.RECONNECT);
    }

    /** A transaction that lost a conflict with others, or with a migration. */
    public static Optional<Transacted> conflict(Throwable thrown) {
        return said(thrown)
                .filter(said -> said.getSQLState().equals("40001")
                        || said.getSQLState().equals("40P01")
                        || SqlState.isStalePlan(said))
                .<Transacted>map(Transacted.Conflict::new)
                .findFirst();
    }

    /** A server that cannot work for now. */
    static Optional<Transacted> shortage(Throwable thrown) {
        return said(thrown)
                .filter(SqlState::isShortage)
                .<Transacted>map(Transacted.Unavailable::new)
                .findFirst();
    }

    /** A transaction that the server has ended because its body was idle for too long. */
    static Optional<Transacted> expired(Throwable thrown, TransactionTicket ticket) {
        return said(thrown)
                .filter(said -> said.getSQLState().equals(IDLE_IN_TRANSACTION_TIMEOUT))
                .<Transacted>map(said -> new Transacted.Expired(BegunTransaction.idleLimit(ticket.lease()), said))
                .findFirst();
    }

    /** Whether the server has ended a transaction that took longer than the application's own limit for it. */
    static boolean tookTooLong(Throwable thrown) {
        return isState(thrown, TRANSACTION_TIMEOUT);
    }

    /** Interprets an exception from a body. Empty if it is the body's own failure. */
    public static Optional<Transacted> fromBody(Throwable thrown, Condition condition, TransactionTicket ticket) {
        Optional<Transacted> conflict = conflict(thrown);
        if (conflict.isPresent()) {
            return conflict;
        }
        return switch (condition) {
            case WELL -> Optional.empty();
            case REFUSED -> shortage(thrown);
            case LOST -> expired(thrown, ticket).or(() -> tookTooLong(thrown) ? Optional.empty() : lost(thrown));
        };
    }

    /** Interprets an exception from the record or the commit, without deciding whether the commit was done. */
    static Optional<Transacted> fromCommit(Throwable thrown, TransactionTicket ticket) {
        return conflict(thrown).or(() -> shortage(thrown)).or(() -> expired(thrown, ticket));
    }

    private static Optional<Transacted> lost(Throwable thrown) {
        return said(thrown)
                .filter(said -> SqlState.of(said) == SqlState.RECONNECT)
                .<Transacted>map(Transacted.Unavailable::new)
                .findFirst();
    }
}
