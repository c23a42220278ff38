package dev.perdure.postgres;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.postgresql.PGConnection;

/**
 * Ends connections on which an answer has not come for long, so that whoever waits for it learns that they are half-open.
 *
 * <p>How it works: a timeout of the socket would do it too, but a virtual thread that waits with a timeout wakes the one that
 * keeps the time, for every answer. So calls wait without one, and are written down here; while there are any, a single thread
 * looks at them in turns.
 */
final class Vigil {
    /** A call that waits for its answer. It has one end: it is over, or it is given up. */
    final class Call implements AutoCloseable {
        private final Connection connection;
        private final long since = System.nanoTime();
        private final AtomicBoolean ended = new AtomicBoolean();

        private Call(Connection connection) {
            this.connection = connection;
        }

        Connection connection() {
            return connection;
        }

        /** It is over. If it has been given up just before, the connection cannot be used again. */
        @Override
        public void close() throws SQLException {
            calls.remove(this);
            if (!ended.compareAndSet(false, true)) {
                throw new SQLException("The answer came too late: its connection is closed.", "08006");
            }
        }

        private void giveUpAfter(long nanos) {
            if (System.nanoTime() - since > nanos && ended.compareAndSet(false, true)) {
                calls.remove(this);
                abort(connection);
            }
        }
    }

    private final long silence;
    private final long turn;
    private final Set<Call> calls = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean looking = new AtomicBoolean();

    Vigil(Duration silence) {
        this.silence = silence.toNanos();
        this.turn = this.silence / 10;
    }

    Call begin(Connection connection) {
        Call call = new Call(connection);
        calls.add(call);
        if (!looking.get() && looking.compareAndSet(false, true)) {
            Thread.ofVirtual().name("perdure-vigil").start(this::look);
        }
        return call;
    }

    private void look() {
        do {
            while (!calls.isEmpty()) {
                pause();
                calls.forEach(call -> call.giveUpAfter(silence));
            }
            looking.set(false);
            // Whoever began before that has relied on this thread.
        } while (!calls.isEmpty() && looking.compareAndSet(false, true));
    }

    private void pause() {
        try {
            Thread.sleep(Duration.ofNanos(turn));
        } catch (InterruptedException nobodyDoes) {
            Thread.currentThread().interrupt();
        }
    }

    /** Closes the socket, below any pool, and in a thread of its own, as an encrypted one may want to say good-bye. */
    private static void abort(Connection connection) {
        try {
            if (connection.unwrap(PGConnection.class) instanceof Connection driver) {
                driver.abort(Thread::startVirtualThread);
            }
        } catch (SQLException closed) {
            // That was the purpose.
        }
    }
}
