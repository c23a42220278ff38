package dev.perdure.postgres.write;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Something that a plan assumes instead of looking it up, and that its statement checks.
 *
 * <p>A plan whose belief is wrong has cost a round trip, and the reason mostly persists. So a belief that failed is not
 * used for a while. If the plan that looks everything up can judge a belief ({@link #judged}), it is used again when
 * that plan finds that it would have held. Any other belief ({@link #tried}) is not used for some batches, and for
 * twice as many the next time, until it proves right.
 */
public final class Belief {
    /** For how many batches a failed belief is not used: the first time, and at most. */
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
     * @param atFirst whether it is used before anything is known
     */
    public static Belief judged(boolean atFirst) {
        return new Belief(true, atFirst ? 0 : UNTIL_JUDGED);
    }

    public static Belief tried() {
        return new Belief(false, 0);
    }

    /** Whether a plan may use it now. Asking counts as one of the batches for which it is not used. */
    public boolean isWorthwhile() {
        return left.getAndUpdate(batches -> judged ? batches : Math.max(0, batches - 1)) == 0;
    }

    /**
     * A plan that used it found it right or wrong; or the plan that looks everything up found that it would have been
     * right or wrong.
     */
    public void proved(boolean right) {
        left.set(right ? 0 : judged ? UNTIL_JUDGED : next.get());
        next.updateAndGet(batches -> right ? SHORTEST_REST : Math.min(LONGEST_REST, 2 * batches));
    }
}
