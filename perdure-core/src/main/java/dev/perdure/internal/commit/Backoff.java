package dev.perdure.internal.commit;

import dev.perdure.internal.time.Waiting;
import dev.perdure.spi.Clockwork;
import java.util.concurrent.TimeUnit;

/** Waits a little longer each time, with jitter, while the store is out of reach. */
public final class Backoff {
    private static final long SHORTEST = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long LONGEST = TimeUnit.SECONDS.toNanos(1);

    private final Clockwork clockwork;
    private final double growth;
    private long nanos = SHORTEST;

    /** Begins with a short wait, and doubles it. */
    public Backoff(Clockwork clockwork) {
        this(clockwork, 2);
    }

    private Backoff(Clockwork clockwork, double growth) {
        this.clockwork = clockwork;
        this.growth = growth;
    }

    /** For what is over soon: no wait is longer than about a quarter of all before it, but for the first few. */
    static Backoff gentle(Clockwork clockwork) {
        return new Backoff(clockwork, 1.25);
    }

    /** Waits. */
    public void pause() {
        long jitter = Math.floorMod(clockwork.random(), nanos / 2);
        Waiting.housekeeping(clockwork.signal(), nanos - jitter);
        nanos = Math.min(LONGEST, (long) (nanos * growth));
    }

    /** The store has answered: the next wait is short again. */
    public void reset() {
        nanos = SHORTEST;
    }
}
