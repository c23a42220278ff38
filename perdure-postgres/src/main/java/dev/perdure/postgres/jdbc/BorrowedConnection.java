package dev.perdure.postgres.jdbc;

import java.net.SocketTimeoutException;
import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.core.BaseConnection;
import org.postgresql.jdbc.AutoSave;

/**
 * A connection taken from {@link Connections}, and the settings with which it came. It goes back with the same
 * settings, because the application may use it next. These are settings of the driver; the server does not see them.
 */
public final class BorrowedConnection {
    private final Connections from;
    private final Connection connection;
    /** The driver's own: that of a pool has none any more when it was found broken. */
    private final BaseConnection driver;

    private final int networkTimeout;
    private final boolean autoCommit;

    BorrowedConnection(Connections from, Connection connection) throws SQLException {
        this.from = from;
        this.connection = connection;
        this.driver = connection.unwrap(BaseConnection.class);
        this.networkTimeout = connection.getNetworkTimeout();
        this.autoCommit = connection.getAutoCommit();
    }

    public Connection connection() {
        return connection;
    }

    /** The application's own limit for an answer, in milliseconds; 0 if it has none. */
    public int networkTimeout() {
        return networkTimeout;
    }

    public void networkTimeout(int millis) throws SQLException {
        if (connection.getNetworkTimeout() != millis) {
            connection.setNetworkTimeout(Runnable::run, millis);
        }
    }

    public void autoCommit(boolean on) throws SQLException {
        if (connection.getAutoCommit() != on) {
            connection.setAutoCommit(on);
        }
    }

    /** Gives the connection back with its original settings. Its transaction has ended. */
    public void giveBack() {
        try {
            restore();
        } catch (SQLException broken) {
            from.discard(connection);
            return;
        }
        from.give(connection);
    }

    /** If the connection got no answer in time, the server gives up what it does for it, too. */
    public void cancelUnlessAnswered(SQLException problem) {
        for (Throwable cause = problem; cause != null; cause = cause.getCause()) {
            if (cause instanceof SocketTimeoutException) {
                Threads.briefly("perdure-cancel", () -> cancel(driver));
                return;
            }
        }
    }

    /**
     * Cancels what the server does for a connection, also if that is closed already. It may take a while to find out
     * that the server cannot be reached.
     */
    static void cancel(BaseConnection driver) {
        try {
            driver.getQueryExecutor().sendQueryCancel();
        } catch (SQLException unreachable) {
            // The server ends the statement by itself, at the latest when it notices that the connection is closed.
        }
    }

    /** Gives back a connection that may be broken; if it is not, with its original settings. */
    public void discard() {
        try {
            if (!connection.isClosed()) {
                if (!connection.getAutoCommit()) {
                    connection.rollback(); // with autocommit on, the transaction would be committed
                }
                restore();
            }
        } catch (SQLException broken) {
            // A connection that cannot be reset is useless.
        } finally {
            from.discard(connection);
        }
    }

    private void restore() throws SQLException {
        networkTimeout(networkTimeout);
        autoCommit(autoCommit);
    }

    /**
     * Runs work without the savepoints that the driver may be configured to set before statements ({@code autosave}).
     * After a savepoint, rows get the number of a subtransaction, and the isolation can no longer be set.
     */
    public static <T extends @Nullable Object> T withoutSavepoints(Connection connection, Database.Work<T> work)
            throws SQLException {
        PGConnection driver = connection.unwrap(PGConnection.class);
        AutoSave found = driver.getAutosave();
        if (found == AutoSave.NEVER) {
            return work.on(connection);
        }
        driver.setAutosave(AutoSave.NEVER);
        try {
            return work.on(connection);
        } finally {
            driver.setAutosave(found);
        }
    }
}
