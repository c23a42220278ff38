package dev.perdure.internal.time;

import dev.perdure.spi.Clockwork;
import java.time.Duration;
import java.time.Instant;

/**
 * What time the store has, as far as this process can tell. Every answer of the store carries its time, which is a
 * moment old when it arrives: so this clock is never ahead of the store's, and a timer that waits by it never fires early.
 */
public final class StoreClock {
    private final Clockwork clockwork;
    private volatile Duration offset = Duration.ZERO;

    /** Takes the process's own time until the store has said its. */
    public StoreClock(Clockwork clockwork) {
        this.clockwork = clockwork;
    }

    /** The store just said that it is this time. */
    public void observe(Instant storeTime) {
        offset = Duration.between(clockwork.now(), storeTime);
    }

    /** The store's time, or a moment before it. */
    public Instant now() {
        return clockwork.now().plus(offset);
    }

    /** Nanoseconds until then, at least 0. */
    public long nanosUntil(Instant then) {
        Duration left = Duration.between(now(), then);
        if (left.isNegative()) {
            return 0;
        }
        return left.compareTo(Duration.ofDays(365)) > 0 ? Duration.ofDays(365).toNanos() : left.toNanos();
    }
}
