package dev.perdure.postgres;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Whether it is worthwhile to try the short way first. One that was in vain costs a round trip, and what made it so mostly
 * lasts: so it is given up for a while then, and for twice as long the next time, until it is met again.
 */
final class Hope {
    /** How often it is not tried after it was in vain: the first time, and at most. */
    private static final int SHORTEST = 16;

    private static final int LONGEST = 256;

    private final AtomicInteger left = new AtomicInteger();
    private final AtomicInteger next = new AtomicInteger(SHORTEST);

    boolean isWorthwhile() {
        return left.getAndUpdate(tries -> Math.max(0, tries - 1)) == 0;
    }

    void was(boolean met) {
        left.set(met ? 0 : next.get());
        next.updateAndGet(tries -> met ? SHORTEST : Math.min(LONGEST, 2 * tries));
    }
}
