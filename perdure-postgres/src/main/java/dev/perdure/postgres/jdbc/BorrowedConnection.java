package dev.perdure.postgres.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.jdbc.AutoSave;

/**
 * A connection that was taken from {@link Connections}, and how it was then: so it goes back, because it may be the
 * application's next. What is noted and put back are settings of the driver's, of which the server is told nothing.
 */
public final class BorrowedConnection {
    private final Connections from;
    private final Connection connection;
    private final int networkTimeout;
    private final boolean autoCommit;

    BorrowedConnection(Connections from, Connection connection) throws SQLException {
        this.from = from;
        this.connection = connection;
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

    /** Gives it back as it was found. Its transaction is over. */
    public void giveBack() {
        try {
            restore();
        } catch (SQLException broken) {
            from.discard(connection);
            return;
        }
        from.give(connection);
    }

    /** Gives back what may be broken; and as it was found if it is not. */
    public void discard() {
        try {
            if (!connection.isClosed()) {
                if (!connection.getAutoCommit()) {
                    connection.rollback(); // with autocommit turned on it would be committed
                }
                restore();
            }
        } catch (SQLException broken) {
            // A connection that cannot be reset is of no use.
        } finally {
            from.discard(connection);
        }
    }

    private void restore() throws SQLException {
        networkTimeout(networkTimeout);
        autoCommit(autoCommit);
    }

    /**
     * Does something without the savepoints that the driver may have been told to put before statements ({@code autosave}):
     * after a savepoint rows have the number of a part of their transaction, and the isolation can no longer be set.
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
