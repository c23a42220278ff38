package dev.perdure.postgres.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.postgresql.core.BaseConnection;

/**
 * Closes the connections of calls of virtual threads that get no answer for too long, and cancels what the server does.
 *
 * <p>How it works. A timeout of the socket does the same for calls of platform threads, where it costs nothing. A virtual
 * thread that waits with a timeout wakes another thread of the JVM twice for every answer: to keep the time, and to
 * forget it. So a call of a virtual thread waits without one and is noted here, and one more virtual thread looks at all
 * of them from time to time. That thread ends when there was nothing to look at for as long as a call may take.
 */
final class UnansweredCalls implements AutoCloseable {
    private static final int LOOKS = 10;

    private final Duration longest;
    private final Set<Call> calls = ConcurrentHashMap.newKeySet();
    private final AtomicReference<@Nullable Thread> watch = new AtomicReference<>();

    /** @param longest how long a call may wait for its answer; it is closed within another tenth of that */
    UnansweredCalls(Duration longest) {
        this.longest = longest;
    }

    /** A call that waits for its answer. */
    final class Call {
        private final BaseConnection connection;
        private final long began = System.nanoTime();
        private final ReentrantLock lock = new ReentrantLock();
        private final AtomicBoolean overdue = new AtomicBoolean();
        private boolean over;

        private Call(BaseConnection connection) {
            this.connection = connection;
        }

        private void giveUp() {
            if (closeConnection()) {
                BorrowedConnection.cancel(connection);
            }
        }

        /**
         * Under the lock, because the connection has another user as soon as the call is over.
         *
         * @return whether the call was not over
         */
        private boolean closeConnection() {
            lock.lock();
            try {
                if (over) {
                    return false;
                }
                over = true;
                connection.abort(Runnable::run);
            } catch (SQLException broken) {
                // It was to be closed anyway.
            } finally {
                lock.unlock();
            }
            return true;
        }

        /**
         * The call has its answer, or will not get one.
         *
         * @return whether its connection was closed
         */
        boolean end() {
            calls.remove(this);
            lock.lock();
            try {
                boolean closed = over;
                over = true;
                return closed;
            } finally {
                lock.unlock();
            }
        }
    }

    /** A call on this connection begins. The driver's own connection is closed, whatever the one of a pool can do. */
    Call begin(Connection connection) throws SQLException {
        Call call = new Call(connection.unwrap(BaseConnection.class));
        calls.add(call);
        if (watch.get() == null) {
            try {
                startWatch();
            } catch (RuntimeException | Error none) {
                call.end();
                throw none;
            }
        }
        return call;
    }

    private void startWatch() {
        Thread thread = thread().name("perdure-unanswered").unstarted(this::watch);
        if (watch.compareAndSet(null, thread)) {
            try {
                thread.start();
            } catch (RuntimeException | Error none) {
                watch.set(null);
                throw none;
            }
        }
    }

    /** Without the thread locals of the call that happens to come first. */
    private static Thread.Builder.OfVirtual thread() {
        return Thread.ofVirtual().inheritInheritableThreadLocals(false);
    }

    private void watch() {
        try {
            for (int idle = 0; idle <= LOOKS; idle = calls.isEmpty() ? idle + 1 : 0) {
                Thread.sleep(longest.dividedBy(LOOKS));
                long now = System.nanoTime();
                for (Call call : calls) {
                    if (now - call.began > longest.toNanos() && call.overdue.compareAndSet(false, true)) {
                        // Closing a connection that is encrypted may wait for the thread that writes to it.
                        thread().start(call::giveUp);
                    }
                }
            }
        } catch (InterruptedException closed) {
            // Another thread looks at the calls that wait.
        } finally {
            watch.set(null);
            if (!calls.isEmpty()) { // Also one that has begun since the last look, and found this thread.
                startWatch();
            }
        }
    }

    /** Looks no more, as soon as no call waits. */
    @Override
    public void close() {
        Thread thread = watch.get();
        if (thread != null) {
            thread.interrupt();
        }
    }
}
