package dev.perdure.postgres.removal;

import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.jdbc.Part;
import dev.perdure.postgres.jdbc.Script;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Removes trees of runs that are too large for one batch.
 *
 * <p>How it works: the pass sets such a tree aside and goes on. Each batch then does a part of one tree, in turns, so none waits
 * for another, and the cost is linear in what is removed. A walk looks whether all runs of the tree may go. Nothing
 * is written before they all may. A second walk closes the runs that have others below them, from the root on, each before it
 * looks at those below it: from then on none of these is given another life. If one has been given one in between, the tree
 * stays. Otherwise a third walk removes the runs, the last first, so that the id of the root is free only when all others are.
 */
final class Trees {
    /** How long a tree waits if another transaction has what it needs. */
    private static final Duration PAUSE = Duration.ofSeconds(1);
    /** An operator's delete that has begun nothing for so long has been given up. */
    private static final Duration GIVEN_UP = Duration.ofMinutes(1);

    private final Connection connection;
    private final RemovalSql sql;
    private final Script script;
    private final Instant now;

    /** What a batch has done with a tree. */
    enum Result {
        /** The next batch goes on. */
        GOES_ON,
        /** The tree is done. */
        DONE,
        /** A run of it has not ended, or is to be kept. */
        STAYS,
        /** Another transaction has changed or locked one of its runs. */
        LOCKED
    }

    /**
     * What a batch has done.
     *
     * @param stage what it was about
     */
    record Progress(Result result, Tree.Stage stage) {}

    private boolean added;
    private @Nullable RemovalBatch batch;

    Trees(Connection connection, RemovalSql sql, Script script, Instant now) {
        this.connection = connection;
        this.sql = sql;
        this.script = script;
        this.now = now;
    }

    // ---- which trees

    /** Sets a tree aside whose runs are to be looked at. */
    void add(long root, boolean asked) throws SQLException {
        add(root, asked, Tree.Stage.LOOKING, false);
    }

    /** Sets a run aside that is being removed already. */
    void addClosed(long root, boolean remembered) throws SQLException {
        add(root, false, Tree.Stage.REMOVING, remembered);
    }

    private void add(long root, boolean asked, Tree.Stage stage, boolean remembered) throws SQLException {
        added = true;
        script.send(
                connection,
                List.of(new Part(
                        sql.aside,
                        parameters -> parameters
                                .number(root)
                                .bool(asked)
                                .integer(stage.ordinal())
                                .bool(remembered)
                                .time(now))));
    }

    /** Whether there are more of them than before. */
    boolean isAdded() {
        return added;
    }

    /** The runs that were removed, if it came to that. */
    @Nullable
    RemovalBatch batch() {
        return batch;
    }

    @Nullable
    Tree find(long root) throws SQLException {
        try (PreparedStatement statement = Database.prepare(connection, sql.tree)) {
            new Parameters(statement).number(root);
            return one(statement);
        }
    }

    /** The tree whose turn it is. */
    @Nullable
    Tree next() throws SQLException {
        try (PreparedStatement statement = Database.prepare(connection, sql.nextTree)) {
            new Parameters(statement).time(now);
            return one(statement);
        }
    }

    private static @Nullable Tree one(PreparedStatement statement) throws SQLException {
        try (ResultSet row = statement.executeQuery()) {
            return row.next() ? Tree.of(row) : null;
        }
    }

    // ---- a part of a tree

    /** Goes on with the tree whose turn it is, as its retention says or as an operator has asked. */
    Progress goOn(Tree tree, Expiry rules, int most) throws SQLException {
        if (tree.asked() && tree.stage() == Tree.Stage.LOOKING) {
            return forget(tree, Result.STAYS); // The operator's process looks at it, and has been gone for a while.
        }
        return step(tree, tree.asked() ? rules.asked() : rules, most);
    }

    /** Goes on with a tree. */
    Progress step(Tree tree, Expiry expiry, int most) throws SQLException {
        TreeWalk walk = TreeWalk.of(connection, sql, tree, most);
        if (walk == null) {
            return forget(tree, Result.DONE);
        }
        return tree.stage() == Tree.Stage.REMOVING ? remove(tree, walk, expiry, most) : look(tree, walk, expiry);
    }

    private Progress look(Tree tree, TreeWalk walk, Expiry expiry) throws SQLException {
        boolean closes = tree.stage() == Tree.Stage.CLOSING;
        OldRun root = tree.isAtBeginning() ? walk.parent() : null;
        boolean remembered = tree.remembered() && root == null;
        if (root != null) {
            if (tree.asked() ? !expiry.isOver(root.kind()) : !root.isOver(expiry)) {
                return forget(tree, Result.STAYS);
            }
            if (closes && !close(root)) {
                return pause(tree);
            }
            remembered = expiry.isRemembered(root.kind());
        }
        Tree.Place place = walk.place();
        for (TreeWalk.Step step = walk.next(); step != null; step = walk.next()) {
            OldRun run = step.run();
            if (step.enters()) {
                boolean again = run.stripped() && expiry.isRemembered(run.kind());
                if (again || run.named() || !expiry.isOver(run.kind())) {
                    return forget(tree, Result.STAYS);
                }
                if (closes && run.parental() && !close(run)) {
                    return pause(tree.at(place, remembered));
                }
                remembered |= expiry.isRemembered(run.kind());
            } else if (run.key() == tree.root()) {
                Tree done = tree.at(Tree.Place.in(tree.root()), remembered);
                return save(done.next(closes ? Tree.Stage.REMOVING : Tree.Stage.CLOSING));
            }
            place = walk.place();
        }
        return save(tree.at(walk.place(), remembered));
    }

    private boolean close(OldRun run) throws SQLException {
        long[] locked = new long[1];
        script.send(
                connection,
                List.of(new Part(
                        sql.close,
                        parameters -> parameters.number(run.key()).number(run.epoch()),
                        results -> locked[0] = results.one().getLong(1))));
        return locked[0] > 0;
    }

    private Progress remove(Tree tree, TreeWalk walk, Expiry expiry, int most) throws SQLException {
        RemovalBatch removing = new RemovalBatch(connection, sql, script, expiry, most);
        batch = removing;
        List<Tree.Place> places = new ArrayList<>();
        boolean last = false;
        boolean kept = false;
        for (TreeWalk.Step step = walk.next(); step != null; step = walk.next()) {
            OldRun run = step.run();
            if (!step.leaves()) {
                continue;
            }
            if (!expiry.isOver(run.kind())) { // The retention has been changed.
                kept = true;
                break;
            }
            last = run.key() == tree.root();
            places.add(last ? Tree.Place.in(tree.root()) : walk.place());
            removing.add(run, tree.remembered());
            if (last) {
                break;
            }
        }
        RemovalBatch.Deleted deleted = removing.deleteInOrder();
        if (!deleted.complete()) {
            return save(tree);
        }
        boolean all = deleted.runs() == places.size() && !kept;
        if (all && last) {
            return forget(tree, Result.DONE);
        }
        Tree.Place place = all ? walk.place() : deleted.runs() == 0 ? tree.place() : places.get(deleted.runs() - 1);
        Tree reached = tree.at(place, tree.remembered());
        return all ? save(reached) : pause(reached);
    }

    private Progress save(Tree tree) throws SQLException {
        boolean held = tree.asked() && tree.stage() == Tree.Stage.LOOKING;
        write(tree, held ? now.plus(GIVEN_UP) : now);
        return new Progress(Result.GOES_ON, tree.stage());
    }

    /** Leaves a tree alone for a moment. */
    Progress pause(Tree tree) throws SQLException {
        write(tree, now.plus(PAUSE));
        return new Progress(Result.LOCKED, tree.stage());
    }

    private void write(Tree tree, Instant next) throws SQLException {
        Tree.Place place = tree.place();
        script.send(
                connection,
                List.of(new Part(
                        sql.step,
                        parameters -> parameters
                                .integer(tree.stage().ordinal())
                                .bool(tree.remembered())
                                .number(place.parent())
                                .time(place.at())
                                .number(place.key())
                                .time(next)
                                .number(tree.root()))));
    }

    private Progress forget(Tree tree, Result result) throws SQLException {
        script.send(connection, List.of(new Part(sql.forgetTree, parameters -> parameters.number(tree.root()))));
        return new Progress(result, tree.stage());
    }
}
