package dev.perdure.postgres.removal;

import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Parameters;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A walk through a tree of runs, a part at a time: into each run before those below it, and out of it after them. It reads each
 * run once, and begins where the last part has ended.
 */
final class TreeWalk {
    /** A statement counts as much as so many runs, so that a part of a deep tree does not take long. */
    private static final int STATEMENT = 4;

    private final Connection connection;
    private final RemovalSql sql;
    private final long root;
    private final int most;
    private final Deque<Level> levels = new ArrayDeque<>();
    private int seen;

    /**
     * A step of the walk.
     *
     * @param run where it is
     * @param enters whether it comes to the run for the first time
     * @param leaves whether it is done with all runs below it
     */
    record Step(OldRun run, boolean enters, boolean leaves) {}

    /** The runs below one, as far as they are read. */
    private static final class Level {
        final OldRun parent;
        Tree.Place place;
        Iterator<OldRun> page = List.<OldRun>of().iterator();
        boolean last;

        Level(OldRun parent, Tree.Place place) {
            this.parent = parent;
            this.place = place;
        }
    }

    private TreeWalk(Connection connection, RemovalSql sql, long root, int most) {
        this.connection = connection;
        this.sql = sql;
        this.root = root;
        this.most = most;
    }

    /** The next part, of so many runs, or null if the root is gone. */
    static @Nullable TreeWalk of(Connection connection, RemovalSql sql, Tree tree, int most) throws SQLException {
        TreeWalk walk = new TreeWalk(connection, sql, tree.root(), most);
        OldRun parent = walk.find(tree.place().parent());
        if (parent != null) {
            walk.levels.push(new Level(parent, tree.place()));
            return walk;
        }
        OldRun root =
                walk.find(tree.root()); // The place is gone if a worker of an earlier version works beside this one.
        if (root == null) {
            return null;
        }
        walk.levels.push(new Level(root, Tree.Place.in(tree.root())));
        return walk;
    }

    /** Where the walk goes on. */
    Tree.Place place() {
        return levels.getFirst().place;
    }

    /** The run below which it goes on. */
    OldRun parent() {
        return levels.getFirst().parent;
    }

    /** Whether this part of the walk is over. */
    boolean isFull() {
        return seen >= most;
    }

    /** The next step, which is the last one if it leaves the root. Null if this part is over. */
    @Nullable
    Step next() throws SQLException {
        while (!isFull()) {
            Level level = levels.getFirst();
            if (!level.page.hasNext() && !level.last) {
                int limit = most - seen;
                List<OldRun> page = below(level, limit);
                level.page = page.iterator();
                level.last = page.size() < limit;
                seen += STATEMENT;
            }
            seen++;
            if (!level.page.hasNext()) {
                return leave(level);
            }
            OldRun run = level.page.next();
            level.place = new Tree.Place(level.parent.key(), run.createdAt(), run.key());
            if (run.belongs()) {
                if (run.parental()) {
                    levels.push(new Level(run, Tree.Place.in(run.key())));
                }
                return new Step(run, true, !run.parental());
            }
        }
        return null;
    }

    private Step leave(Level level) throws SQLException {
        OldRun left = level.parent;
        levels.pop();
        if (levels.isEmpty() && left.key() != root) {
            OldRun parent = find(left.parent());
            if (parent == null) {
                throw new IllegalStateException("The run %s is there without its parent.".formatted(left.key()));
            }
            levels.push(new Level(parent, new Tree.Place(left.parent(), left.createdAt(), left.key())));
        }
        return new Step(left, false, true);
    }

    private @Nullable OldRun find(long key) throws SQLException {
        try (PreparedStatement statement = Database.prepare(connection, sql.parentOfOthers)) {
            new Parameters(statement).number(key);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? OldRun.of(row) : null;
            }
        }
    }

    private List<OldRun> below(Level level, int limit) throws SQLException {
        try (PreparedStatement statement = Database.prepare(connection, sql.below)) {
            new Parameters(statement)
                    .integer(level.parent.restarts())
                    .number(level.parent.key())
                    .time(level.place.at())
                    .number(level.place.key())
                    .integer(limit);
            try (ResultSet rows = statement.executeQuery()) {
                List<OldRun> below = new ArrayList<>();
                while (rows.next()) {
                    below.add(OldRun.of(rows));
                }
                return below;
            }
        }
    }
}
