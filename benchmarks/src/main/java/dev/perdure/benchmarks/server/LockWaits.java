package dev.perdure.benchmarks.server;

import java.sql.SQLException;
import java.time.Duration;

/**
 * How many connections wait for a lock that another transaction holds, on average. It looks at the server's view of
 * activity every few milliseconds, on a connection whose cost does not count.
 */
public final class LockWaits implements AutoCloseable {
    private static final Duration APART = Duration.ofMillis(10);
    private static final String WAITING = """
            SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
            """;

    private final Observer observer;
    private final Thread thread;
    private volatile boolean closed;
    private volatile long looks;
    private volatile long waiting;

    private LockWaits(BenchDatabase database) throws SQLException {
        this.observer = new Observer(database);
        this.thread = Thread.ofPlatform().daemon().name("lock-waits").unstarted(this::look);
    }

    /** Looks until it is closed. */
    public static LockWaits watch(BenchDatabase database) throws SQLException {
        LockWaits waits = new LockWaits(database);
        waits.thread.start();
        return waits;
    }

    private void look() {
        try {
            long sum = 0;
            for (long count = 1; !closed; count++) {
                sum += observer.number(WAITING);
                waiting = sum;
                looks = count;
                Thread.sleep(APART);
            }
        } catch (SQLException | InterruptedException ended) {
            throw new IllegalStateException("Cannot look for connections that wait for a lock.", ended);
        }
    }

    /** The average number of connections that waited. */
    public double average() {
        return looks == 0 ? 0 : (double) waiting / looks;
    }

    @Override
    public void close() throws SQLException {
        closed = true;
        try {
            thread.join();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        observer.close();
    }
}
