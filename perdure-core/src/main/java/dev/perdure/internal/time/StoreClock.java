package dev.perdure.internal.time;

import dev.perdure.spi.Clockwork;
import java.time.Duration;
import java.time.Instant;

/**
 * The store's time, as far as this process knows it. Every answer of the store carries its time, which is slightly old
 * when it arrives. So this clock is never ahead of the store's clock, and a timer that uses it never fires early.
 */
public final class StoreClock {
    private final Clockwork clockwork;
    private volatile Duration offset = Duration.ZERO;

    /** Uses the process's own time until the store has answered. */
    public StoreClock(Clockwork clockwork) {
        this.clockwork = clockwork;
    }

    /** The store has just answered with this time. */
    public void observe(Instant storeTime) {
        offset = Duration.between(clockwork.now(), storeTime);
    }

    /** The store's time, or slightly before it. */
    public Instant now() {
        return clockwork.now().plus(offset);
    }

    /** The nanoseconds since this time, at least 0. */
    public long nanosSince(Instant then) {
        return Math.max(0, Duration.between(then, now()).toNanos());
    }

    /** The nanoseconds until this time, at least 0. */
    public long nanosUntil(Instant then) {
        Duration left = Duration.between(now(), then);
        if (left.isNegative()) {
            return 0;
        }
        return left.compareTo(Duration.ofDays(365)) > 0 ? Duration.ofDays(365).toNanos() : left.toNanos();
    }
}
