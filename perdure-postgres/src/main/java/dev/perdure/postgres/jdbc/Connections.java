package dev.perdure.postgres.jdbc;

import dev.perdure.error.StoreException;
import dev.perdure.error.StoreException.Kind;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import javax.sql.DataSource;
import org.postgresql.PGConnection;

/**
 * The source of connections.
 *
 * <p>How it works: it borrows a pool's connections for one call each, because that costs a microsecond and leaves the
 * pool to the application. A {@link DataSource} that opens a new connection each time costs milliseconds, so a few of
 * its connections are kept here. The first close shows which of the two it is: only without a pool does it close the
 * driver's own connection. In both cases it takes no more than the agreed number at once. A connection that is kept here and
 * that no call has needed for a while is closed: the last that came back is the next to be taken, so an idle process keeps
 * as many as it uses at the same time.
 */
public final class Connections implements AutoCloseable {
    private static final long KEPT_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final DataSource source;
    private final boolean pooled;
    private final Semaphore free;
    /** How many calls that guard a lease wait, and the places that are given to them. */
    private final AtomicInteger urgent = new AtomicInteger();

    private final Semaphore given = new Semaphore(0);
    private final int most;
    private final LongSupplier nanoTime;
    private final ConcurrentLinkedDeque<Kept> idle = new ConcurrentLinkedDeque<>();
    private volatile boolean closed;

    /**
     * A connection that no call has now.
     *
     * @param since the monotonic time since when
     */
    private record Kept(Connection connection, long since) {}

    private Connections(DataSource source, boolean pooled, int most, LongSupplier nanoTime) {
        this.source = source;
        this.pooled = pooled;
        this.most = most;
        this.nanoTime = nanoTime;
        this.free = new Semaphore(most);
    }

    public static Connections from(DataSource source, int most) throws SQLException {
        return from(source, most, System::nanoTime);
    }

    /** The same, with another monotonic time than the machine's. */
    public static Connections from(DataSource source, int most, LongSupplier nanoTime) throws SQLException {
        Connection first = source.getConnection();
        PGConnection driver;
        try {
            requireWritable(first);
            driver = first.unwrap(PGConnection.class);
        } finally {
            first.close();
        }
        boolean pooled = !(driver instanceof Connection connection && connection.isClosed());
        return new Connections(source, pooled, most, nanoTime);
    }

    /** The source of the connections. */
    DataSource source() {
        return source;
    }

    /** How many connections it takes at most. */
    int most() {
        return most;
    }

    /** A connection for a call. */
    public BorrowedConnection take() throws SQLException {
        free.acquireUninterruptibly();
        return borrowed();
    }

    /** The same for a call that guards a lease: those of {@link #take} wait behind it. */
    public BorrowedConnection takeFirst() throws SQLException {
        urgent.incrementAndGet();
        if (free.tryAcquire()) {
            release();
        }
        given.acquireUninterruptibly();
        return borrowed();
    }

    /** Gives a place to a call that guards a lease, and without one to any other call. */
    private void release() {
        if (urgent.getAndUpdate(waiting -> Math.max(0, waiting - 1)) > 0) {
            given.release();
            return;
        }
        free.release();
        if (urgent.get() > 0 && free.tryAcquire()) { // it came after the look, and before the place was free
            release();
        }
    }

    private BorrowedConnection borrowed() throws SQLException {
        Connection connection;
        try {
            Kept kept = idle.pollFirst();
            connection = kept != null ? kept.connection() : source.getConnection();
        } catch (SQLException | RuntimeException | Error e) {
            release();
            throw e;
        }
        try {
            return new BorrowedConnection(this, connection);
        } catch (SQLException | RuntimeException | Error e) {
            discard(connection);
            throw e;
        }
    }

    /** Gives back a connection that the next call can use. */
    void give(Connection connection) {
        try {
            if (pooled || closed || connection.isClosed()) {
                connection.close();
            } else {
                idle.addFirst(new Kept(connection, nanoTime.getAsLong()));
                closeUnneeded();
            }
        } catch (SQLException e) {
            // It is not kept.
        } finally {
            release();
        }
    }

    /** Closes the connection that has been idle for longest, if that is too long. */
    private void closeUnneeded() {
        Kept last = idle.peekLast();
        if (last != null && nanoTime.getAsLong() - last.since() > KEPT_NANOS && idle.removeLastOccurrence(last)) {
            close(last.connection());
        }
    }

    /** Gives back a connection that may be broken. The idle ones may be broken too. */
    void discard(Connection connection) {
        try {
            if (pooled) {
                connection.close();
            } else {
                connection.abort(Runnable::run);
                closeIdle();
            }
        } catch (SQLException e) {
            // It was to be discarded anyway.
        } finally {
            release();
        }
    }

    private void closeIdle() {
        for (Kept kept = idle.pollFirst(); kept != null; kept = idle.pollFirst()) {
            close(kept.connection());
        }
    }

    private static void close(Connection connection) {
        try {
            connection.close();
        } catch (SQLException e) {
            // The connection is closed in any case.
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
                    "The DataSource returns read-only connections, and Perdure writes. Turn readOnly off in the pool or the URL, or pass another DataSource.",
                    null);
        }
    }
}
