package dev.perdure.internal.worker;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Counts the runs that leave a worker's memory, to tell when a poll is worthwhile. While a limit of a queue holds runs
 * back, each run that leaves may have freed a place for another.
 *
 * <p>A claim of many runs costs little more than a claim of one. So the worker waits until as many places are free as
 * the last poll took, for a moment at most. It does not wait for more than half of the runs that it holds, so that the
 * other half is at work while it claims. Without the half, it would work and claim in turns; with half of what the last
 * poll took, each poll would take less than the poll before.
 */
final class FreePlaces {
    /** How many runs have left since the last poll began. */
    private final AtomicInteger leftSince = new AtomicInteger();
    /** How many of their places no poll has taken yet, as far as this worker can tell. */
    private final AtomicInteger free = new AtomicInteger();
    /** How many free places make the next poll worthwhile. */
    private volatile int worthwhile = 1;

    void pollBegins() {
        leftSince.set(0);
    }

    /** A run has left. Returns whether to look: it is the first since the last poll began, or enough have left. */
    boolean left() {
        int places = free.incrementAndGet();
        int left = leftSince.incrementAndGet();
        return left == 1 || places >= worthwhile;
    }

    /**
     * A poll has ended.
     *
     * <p>Some of the runs that left during the poll left before it claimed, so their places are taken too; places of all
     * that left earlier are taken, or no run may have them.
     *
     * @param claimed how many runs it has claimed
     * @param held how many runs the worker holds, these among them
     * @param limited whether a limit held runs back
     */
    void polled(int claimed, int held, boolean limited) {
        worthwhile = limited ? Math.max(1, Math.min(claimed, held / 2)) : 1;
        free.updateAndGet(places -> Math.clamp(places - claimed, 0, leftSince.get()));
    }

    /** Whether runs have left since the last poll began. */
    boolean someLeft() {
        return leftSince.get() > 0;
    }

    /** Whether so few places are free that it is better to wait for more. */
    boolean areFew() {
        return someLeft() && free.get() < worthwhile;
    }
}
