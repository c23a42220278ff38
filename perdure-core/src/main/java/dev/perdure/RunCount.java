package dev.perdure;

/**
 * How many runs there are of one kind: exactly, up to {@link #BOUND}; beyond, only that there are more.
 *
 * @param runs the number of runs, {@link #BOUND} at most
 * @param more whether there are more than this
 */
public record RunCount(int runs, boolean more) {
    /** The number up to which runs are counted. */
    public static final int BOUND = 10_000;

    /** For stores: the count of runs of which this many were seen, one more than {@link #BOUND} at most. */
    public static RunCount seen(int runs) {
        return new RunCount(Math.min(runs, BOUND), runs > BOUND);
    }

    /** Such as {@code 12}, or {@code more than 10000}. */
    @Override
    public String toString() {
        return more ? "more than " + runs : String.valueOf(runs);
    }
}
