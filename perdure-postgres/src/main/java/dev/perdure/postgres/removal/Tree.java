package dev.perdure.postgres.removal;

import dev.perdure.postgres.jdbc.Results;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;

/**
 * A tree of runs that is too large for one batch.
 *
 * @param root the key of the run to which all others belong
 * @param asked whether an operator deletes it, whatever its retention is
 * @param stage what is done with its runs
 * @param remembered whether ids, inputs and outcomes stay
 * @param place how far this is done
 */
record Tree(long root, boolean asked, Stage stage, boolean remembered, Place place) {
    /** What batches do with the runs of a tree, one after another. */
    enum Stage {
        /** They look whether all of them may go. */
        LOOKING,
        /** They close those that have others below them, from the root on, and look at all once more. */
        CLOSING,
        /** They remove them, the last first. */
        REMOVING
    }

    /**
     * How far a walk through a tree is: the run {@code parent}, and behind which of the runs that it has started.
     *
     * @param at when that one was created
     * @param key its key
     */
    record Place(long parent, Instant at, long key) {
        /** Before all runs below one. */
        static Place in(long parent) {
            return new Place(parent, Instant.EPOCH, 0);
        }
    }

    static Tree of(ResultSet row) throws SQLException {
        return new Tree(
                row.getLong("root"),
                row.getBoolean("asked"),
                Stage.values()[row.getInt("stage")],
                row.getBoolean("remembered"),
                new Place(row.getLong("parent"), Results.time(row, "after_at"), row.getLong("after_key")));
    }

    Tree next(Stage next) {
        return new Tree(root, asked, next, remembered, Place.in(root));
    }

    Tree at(Place next, boolean rememberedSoFar) {
        return new Tree(root, asked, stage, rememberedSoFar, next);
    }

    boolean isAtBeginning() {
        return place.equals(Place.in(root));
    }
}
