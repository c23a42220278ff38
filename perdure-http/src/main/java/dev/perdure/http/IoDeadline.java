package dev.perdure.http;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Bounds how long one thread reads from its client or writes to it. When the time is over, the thread is interrupted,
 * which closes the socket. It is interrupted only between {@link #begin} and {@link #end}: an interrupt while the thread
 * asks the store would close a connection of the engine.
 */
final class IoDeadline {
    private final Thread thread;
    private final ScheduledExecutorService timer;
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable ScheduledFuture<?> planned;
    private boolean inside;

    IoDeadline(Thread thread, ScheduledExecutorService timer) {
        this.thread = thread;
        this.timer = timer;
    }

    /** Something that reads or writes. */
    @FunctionalInterface
    interface Io<T> {
        T run() throws IOException;
    }

    /** Reads or writes within this time. */
    <T> T within(Duration limit, Io<T> io) throws IOException {
        begin(limit);
        try {
            return io.run();
        } finally {
            end();
        }
    }

    void begin(Duration limit) {
        lock.lock();
        try {
            inside = true;
            if (timer.isShutdown()) {
                thread.interrupt(); // the server is closed: nothing more is read or written
            } else {
                planned = timer.schedule(this::interrupt, limit.toNanos(), TimeUnit.NANOSECONDS);
            }
        } finally {
            lock.unlock();
        }
    }

    void end() {
        lock.lock();
        try {
            inside = false;
            if (planned != null) {
                planned.cancel(false);
                planned = null;
            }
            Thread.interrupted(); // it was for the reading or writing that has ended
        } finally {
            lock.unlock();
        }
    }

    /** Ends the reading or writing that is under way, if there is any. */
    void interrupt() {
        lock.lock();
        try {
            if (inside) {
                thread.interrupt();
            }
        } finally {
            lock.unlock();
        }
    }
}
