package dev.perdure.postgres;

import java.util.concurrent.TimeUnit;

/** How long it is worth to stay awake for an answer: for a moment, if lately answers came soon. */
final class Patience {
    static final long SOON = TimeUnit.MICROSECONDS.toNanos(200);
    static final long LONGEST = TimeUnit.MICROSECONDS.toNanos(300);

    /** A single answer counts for so much of all, and is not remembered for longer than so many. */
    private static final int LATELY = 8;

    /** So that one that never came does not count for more than some that were late. */
    private static final long LATEST = 10 * SOON;

    private long usual = 2 * SOON;

    long nanos() {
        return usual < SOON ? LONGEST : 0;
    }

    void waited(long nanos) {
        usual += (Math.min(nanos, LATEST) - usual) / LATELY;
    }
}
