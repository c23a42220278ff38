package dev.perdure.torture.setup;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** Closes what was added to it, the newest first: when it is closed, and at the latest when the JVM exits. */
final class CloseStack implements AutoCloseable {
    private final ReentrantLock lock = new ReentrantLock();
    private final Deque<AutoCloseable> open = new ArrayDeque<>();
    private final Thread hook = new Thread(this::closeAll, "torture-exit");

    CloseStack() {
        Runtime.getRuntime().addShutdownHook(hook);
    }

    /** Adds one; gives it back. */
    <T extends AutoCloseable> T add(T each) {
        lock.lock();
        try {
            open.push(each);
            return each;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        closeAll();
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException exits) {
            // The hook runs, or has run.
        }
    }

    /** With the lock, because the JVM must not exit while another thread is in the middle of this. */
    private void closeAll() {
        lock.lock();
        try {
            IllegalStateException failure = null;
            while (!open.isEmpty()) {
                failure = closed(open.pop(), failure);
            }
            if (failure != null) {
                throw failure;
            }
        } finally {
            lock.unlock();
        }
    }

    private static @Nullable IllegalStateException closed(AutoCloseable each, @Nullable IllegalStateException failure) {
        try {
            each.close();
            return failure;
        } catch (Exception thrown) {
            IllegalStateException first =
                    failure == null ? new IllegalStateException("Not all could be closed.") : failure;
            first.addSuppressed(thrown);
            return first;
        }
    }
}
