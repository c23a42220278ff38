package dev.perdure.spi.change;

/**
 * The run that started a run, and what it hears of it.
 *
 * @param run the parent
 * @param position the position of the call that started it, or {@link #REPORTS}
 * @param answers whether the parent gets the outcome, as mail on {@link Channel#answer} of that position
 */
public record Parent(RunRef run, int position, boolean answers) {
    /**
     * The position of a run that reports its end to the run that started it: as an {@link EndReport}, a message for any
     * life of that run. Such a run is no child. It is the root of a tree of its own, and no command to the run that
     * started it reaches it.
     */
    public static final int REPORTS = 0;

    /** The run to which a run that is not its child reports its end. */
    public static Parent reporting(RunRef to) {
        return new Parent(to, REPORTS, true);
    }

    /** Whether the run reports its end and is no child. */
    public boolean isReport() {
        return answers && position == REPORTS;
    }
}
