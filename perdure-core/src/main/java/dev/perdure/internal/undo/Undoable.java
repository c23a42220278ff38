package dev.perdure.internal.undo;

/** What a saga asks of the context of its run, so that a fork takes over nothing that was undone. */
public interface Undoable {
    /** The position of the latest call; 0 if there was none. */
    int position();

    /**
     * The position of the call that a compensation undoes which is registered now: of the latest step. If steps or children
     * were started beside each other since this position, it may undo any of them: then the position after it.
     */
    int undoneNow(int since);

    /** Records that what was done from this position on is about to be undone. */
    void undoes(int first);
}
