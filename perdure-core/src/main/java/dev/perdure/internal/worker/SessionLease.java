package dev.perdure.internal.worker;

import dev.perdure.spi.Clockwork;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

/** The lease of a session, by the process's own monotonic clock. When it is lost, it is lost for good. */
final class SessionLease {
    private final Clockwork clockwork;
    private final Duration length;
    private final AtomicBoolean over = new AtomicBoolean();
    private volatile long ends;

    SessionLease(Clockwork clockwork, Duration length) {
        this.clockwork = clockwork;
        this.length = length;
    }

    Duration length() {
        return length;
    }

    /** It begins with the request to join, which was sent at this monotonic time. */
    void joined(long sentNanos) {
        ends = sentNanos + length.toNanos();
    }

    /**
     * It was renewed by a request that was sent at this monotonic time.
     *
     * @return whether that was in time: a lease that has ended by this process's own clock stays ended, because batches
     *     have been refused since
     */
    boolean renewed(long sentNanos) {
        boolean inTime = holds();
        if (inTime) {
            ends = sentNanos + length.toNanos();
        }
        return inTime;
    }

    /** How long it still lasts; {@link Clockwork#NEVER} if it has ended for good. */
    long nanosLeft() {
        return isOver() ? Clockwork.NEVER : Math.max(0, ends - clockwork.nanoTime());
    }

    boolean holds() {
        return !isOver() && clockwork.nanoTime() - ends < 0;
    }

    /** It is lost. Returns whether that is new. */
    boolean end() {
        return over.compareAndSet(false, true);
    }

    /** Whether it has been lost. One that has run out is not, until the worker sees that. */
    boolean isOver() {
        return over.get();
    }
}
