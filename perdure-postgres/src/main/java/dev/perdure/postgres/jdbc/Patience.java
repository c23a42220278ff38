package dev.perdure.postgres.jdbc;

import java.util.concurrent.TimeUnit;

/**
 * How long it is worth to stay awake for an answer: for a moment, if lately answers came soon.
 *
 * <p>Whoever sleeps gets his answers later, so that he never finds out that they could come sooner. That is why he is believed to have
 * had soon answers again after some: if he had not, a few show it.
 */
final class Patience {
    static final long SOON = TimeUnit.MICROSECONDS.toNanos(250);
    static final long LONGEST = TimeUnit.MICROSECONDS.toNanos(400);

    /** After so many late answers it is tried again. */
    static final int GIVEN_UP_FOR = 128;

    /** A single answer counts for so much of all, and is not remembered for longer than so many. */
    private static final int LATELY = 8;

    /** So that one that never came does not count for more than some that were late. */
    private static final long LATEST = 10 * SOON;

    private long usual = SOON / 2;
    private int late;

    long nanos() {
        return usual < SOON ? LONGEST : 0;
    }

    void waited(long nanos) {
        usual += (Math.min(nanos, LATEST) - usual) / LATELY;
        late = usual < SOON ? 0 : late + 1;
        if (late == GIVEN_UP_FOR) {
            usual = SOON / 2;
            late = 0;
        }
    }
}
