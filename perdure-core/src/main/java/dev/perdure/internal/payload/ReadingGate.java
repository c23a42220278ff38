package dev.perdure.internal.payload;

import dev.perdure.internal.time.Waiting;
import dev.perdure.spi.Clockwork;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Lets a few threads decode large values at a time, in the order of arrival. While a text is decoded, the codec needs
 * several times its size; so the values that are being decoded have at most a share of the heap together. A value that
 * is larger than that is decoded alone.
 */
final class ReadingGate {
    private final Clockwork clockwork;
    private final long room;
    private final ReentrantLock lock = new ReentrantLock();
    private final Queue<Waiter> waiters = new ArrayDeque<>();
    private long taken;

    private record Waiter(long size, Clockwork.Signal admitted) {}

    /** With room for values of this many bytes. */
    ReadingGate(Clockwork clockwork, long room) {
        this.clockwork = clockwork;
        this.room = room;
    }

    /** Waits for room for a value of this size. {@link #leave} gives it back. */
    void enter(long size) {
        Waiter waiter = new Waiter(Math.min(size, room), clockwork.signal());
        lock.lock();
        try {
            waiters.add(waiter);
            admit();
        } finally {
            lock.unlock();
        }
        Waiting.forSignal(waiter.admitted());
    }

    void leave(long size) {
        lock.lock();
        try {
            taken -= Math.min(size, room);
            admit();
        } finally {
            lock.unlock();
        }
    }

    private void admit() {
        for (Waiter first = waiters.peek(); first != null && taken + first.size() <= room; first = waiters.peek()) {
            waiters.remove();
            taken += first.size();
            first.admitted().raise();
        }
    }
}
