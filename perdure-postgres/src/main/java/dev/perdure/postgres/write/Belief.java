package dev.perdure.postgres.write;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Something that a plan takes for granted instead of looking it up, and that its statement checks.
 *
 * <p>A plan whose belief proves wrong has cost a round trip, and what made it wrong mostly lasts. So a belief that failed rests. One that the plan
 * that looks everything up can judge ({@link #judged}) rests until that finds that it would have held. Any other ({@link #tried}) rests for some batches, and
 * for twice as many the next time, until it proves right again.
 */
public final class Belief {
    /** For how many batches a belief rests that failed: the first time, and at most. */
    private static final int SHORTEST_REST = 16;

    private static final int LONGEST_REST = 256;
    private static final int UNTIL_JUDGED = Integer.MAX_VALUE;

    private final boolean judged;
    private final AtomicInteger left;
    private final AtomicInteger next = new AtomicInteger(SHORTEST_REST);

    private Belief(boolean judged, int left) {
        this.judged = judged;
        this.left = new AtomicInteger(left);
    }

    /**
     * A belief that the plan that looks everything up can judge.
     *
     * @param atFirst whether it is believed before anything is known
     */
    public static Belief judged(boolean atFirst) {
        return new Belief(true, atFirst ? 0 : UNTIL_JUDGED);
    }

    public static Belief tried() {
        return new Belief(false, 0);
    }

    /** Whether a plan may rest on it now. Asking counts as one of the batches for which it rests. */
    public boolean isWorthwhile() {
        return left.getAndUpdate(batches -> judged ? batches : Math.max(0, batches - 1)) == 0;
    }

    /** A plan that rested on it found it right or wrong; or one that looked everything up found that it would have been. */
    public void proved(boolean right) {
        left.set(right ? 0 : judged ? UNTIL_JUDGED : next.get());
        next.updateAndGet(batches -> right ? SHORTEST_REST : Math.min(LONGEST_REST, 2 * batches));
    }
}
