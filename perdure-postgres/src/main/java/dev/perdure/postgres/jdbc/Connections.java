package dev.perdure.postgres.jdbc;

import dev.perdure.error.StoreException;
import dev.perdure.error.StoreException.Kind;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Semaphore;
import javax.sql.DataSource;
import org.postgresql.PGConnection;

/**
 * Where connections come from.
 *
 * <p>How it works: a pool's connections are borrowed for one call each, because that costs a microsecond and leaves the
 * pool to its owner. A {@link DataSource} that opens a connection each time costs milliseconds, so of those a few are
 * kept here. Which of the two it is shows after the first close: only without a pool does it close the driver's own
 * connection. Either way no more than the agreed number is taken at once.
 */
public final class Connections implements AutoCloseable {
    private final DataSource source;
    private final boolean pooled;
    private final Semaphore free;
    private final int most;
    private final ConcurrentLinkedDeque<Connection> idle = new ConcurrentLinkedDeque<>();
    private volatile boolean closed;

    private Connections(DataSource source, boolean pooled, int most) {
        this.source = source;
        this.pooled = pooled;
        this.most = most;
        this.free = new Semaphore(most);
    }

    public static Connections from(DataSource source, int most) throws SQLException {
        Connection first = source.getConnection();
        PGConnection driver;
        try {
            requireWritable(first);
            driver = first.unwrap(PGConnection.class);
        } finally {
            first.close();
        }
        boolean pooled = !(driver instanceof Connection connection && connection.isClosed());
        return new Connections(source, pooled, most);
    }

    /** Where they come from. */
    DataSource source() {
        return source;
    }

    /** How many it takes at once. */
    int most() {
        return most;
    }

    public BorrowedConnection take() throws SQLException {
        free.acquireUninterruptibly();
        Connection connection;
        try {
            Connection kept = idle.pollFirst();
            connection = kept != null ? kept : source.getConnection();
        } catch (SQLException | RuntimeException | Error e) {
            free.release();
            throw e;
        }
        try {
            return new BorrowedConnection(this, connection);
        } catch (SQLException | RuntimeException | Error e) {
            discard(connection);
            throw e;
        }
    }

    /** Gives back a connection that is fit for the next call. */
    void give(Connection connection) {
        try {
            if (pooled || closed || connection.isClosed()) {
                connection.close();
            } else {
                idle.addFirst(connection);
            }
        } catch (SQLException e) {
            idle.remove(connection);
        } finally {
            free.release();
        }
    }

    /** Gives back a connection that may be broken, and so are those that were idle meanwhile. */
    void discard(Connection connection) {
        try {
            if (pooled) {
                connection.close();
            } else {
                connection.abort(Runnable::run);
                closeIdle();
            }
        } catch (SQLException e) {
            // It was to be thrown away anyhow.
        } finally {
            free.release();
        }
    }

    private void closeIdle() {
        for (Connection connection = idle.pollFirst(); connection != null; connection = idle.pollFirst()) {
            try {
                connection.close();
            } catch (SQLException e) {
                // Closed is closed.
            }
        }
    }

    @Override
    public void close() {
        closed = true;
        closeIdle();
    }

    private static void requireWritable(Connection connection) throws SQLException {
        if (connection.isReadOnly()) {
            throw new StoreException(
                    Kind.UNUSABLE,
                    "The DataSource gives read-only connections, and Perdure writes. Turn readOnly off in the pool or the URL, or give another DataSource.",
                    null);
        }
    }
}
