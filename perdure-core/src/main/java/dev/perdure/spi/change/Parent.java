package dev.perdure.spi.change;

/**
 * The run that started a run, and what it hears of it.
 *
 * @param run the parent
 * @param position the position of the call that started it, or {@link #REPORTS}
 * @param answers whether the parent gets the outcome, as mail on {@link Channel#answer} of that position
 * @param life the life of the parent if it is on another shard, where the store cannot look it up; otherwise {@link #HERE}
 */
public record Parent(RunRef run, int position, boolean answers, int life) {
    /**
     * The position of a run that reports its end to the run that started it: as an {@link EndReport}, a message for any
     * life of that run. Such a run is no child. It is the root of a tree of its own, and no command to the run that
     * started it reaches it.
     */
    public static final int REPORTS = 0;

    /** Stands for the present life of a parent in the same store. */
    public static final int HERE = -1;

    /** A parent in the same store. */
    public Parent(RunRef run, int position, boolean answers) {
        this(run, position, answers, HERE);
    }

    /** The run to which a run that is not its child reports its end. */
    public static Parent reporting(RunRef to) {
        return new Parent(to, REPORTS, true);
    }

    /** Whether the run reports its end and is no child. */
    public boolean isReport() {
        return answers && position == REPORTS;
    }

    /** Whether the parent is on another shard. */
    public boolean isElsewhere() {
        return life != HERE;
    }

    /** The same parent as seen from another shard. */
    public Parent inLife(int present) {
        return new Parent(run, position, answers, present);
    }
}
