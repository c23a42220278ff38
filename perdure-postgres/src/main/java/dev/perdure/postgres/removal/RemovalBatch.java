package dev.perdure.postgres.removal;

import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.jdbc.Part;
import dev.perdure.postgres.jdbc.Script;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The runs that one batch removes. */
final class RemovalBatch {
    /** So many rows of a table are deleted by one batch, at most, however many rows its runs have. */
    static final int MOST_ROWS = 4_000;

    private final Connection connection;
    private final RemovalSql sql;
    private final Script script;
    private final Expiry expiry;
    private final int most;
    /** To be removed: runs that belong together, each after those that belong to it. */
    private final List<List<Due>> gone = new ArrayList<>();
    /** To be removed except for id, input and outcome. */
    private final List<List<Due>> stripped = new ArrayList<>();

    private int size;
    private int removed;
    private long rows;
    /** Whether more belongs to the last run than this batch can remove. */
    private boolean partial;

    /** A run to remove, with the epoch that it has if nothing has touched it since. */
    private record Due(long key, long epoch) {}

    /** The runs that belong to a run, itself included. */
    private record Group(List<OldRun.Kind> kinds, long runs, boolean named) {}

    RemovalBatch(Connection connection, RemovalSql sql, Script script, Expiry expiry, int most) {
        this.connection = connection;
        this.sql = sql;
        this.script = script;
        this.expiry = expiry;
        this.most = most;
    }

    /** How many runs it has removed. */
    int removed() {
        return removed;
    }

    /** How many rows it has deleted from the table from which it has deleted most. */
    long rows() {
        return rows;
    }

    /** Whether it has taken no run. */
    boolean isEmpty() {
        return size == 0;
    }

    // ---- what is due

    /** Takes a run, if it is due. Returns false if there is no room for it. */
    boolean take(OldRun run) throws SQLException {
        if (partial) {
            return false;
        }
        if (!run.isOver(expiry)) {
            return true;
        }
        return run.parental() ? takeGroup(run) : takeOne(run);
    }

    private boolean takeOne(OldRun run) {
        boolean remembered = expiry.isRemembered(run.kind());
        if (!remembered || !run.stripped()) {
            add(remembered, List.of(new Due(run.key(), run.epoch())));
        }
        return true;
    }

    /** Takes a run with its children and tasks, or as many of these as there is room for. */
    private boolean takeGroup(OldRun root) throws SQLException {
        Group group = group(root.key());
        if (group.named() || !group.kinds().stream().allMatch(expiry::isOver)) {
            return true;
        }
        boolean remembered = group.kinds().stream().anyMatch(expiry::isRemembered);
        if (remembered && root.stripped()) {
            return true;
        }
        if (group.runs() <= most - size) {
            add(remembered, members(root.key(), remembered));
            return true;
        }
        if (size > 0) {
            return false; // The next batch begins with it.
        }
        if (!root.removing()) {
            script.send(connection, List.of(new Part(sql.close, parameters -> parameters.number(root.key()))));
        }
        List<Due> first = members(root.key(), remembered);
        partial = first.size() == most;
        add(remembered, first);
        return true;
    }

    private void add(boolean remembered, List<Due> group) {
        (remembered ? stripped : gone).add(group);
        size += group.size();
    }

    private Group group(long root) throws SQLException {
        try (PreparedStatement statement = Database.prepare(connection, sql.kinds)) {
            new Parameters(statement).number(root);
            try (ResultSet rows = statement.executeQuery()) {
                List<OldRun.Kind> kinds = new ArrayList<>();
                long runs = 0;
                boolean named = false;
                while (rows.next()) {
                    kinds.add(OldRun.Kind.of(rows));
                    runs += rows.getLong("runs");
                    named |= rows.getBoolean("named");
                }
                return new Group(kinds, runs, named);
            }
        }
    }

    private List<Due> members(long root, boolean unstripped) throws SQLException {
        try (PreparedStatement statement = Database.prepare(connection, sql.members)) {
            new Parameters(statement).number(root).bool(!unstripped).integer(most);
            try (ResultSet rows = statement.executeQuery()) {
                List<Due> members = new ArrayList<>();
                while (rows.next()) {
                    members.add(new Due(rows.getLong("key"), rows.getLong("epoch")));
                }
                return members;
            }
        }
    }

    // ---- removing

    /** Removes what is due. Returns whether the pass can go on behind it. */
    boolean delete() throws SQLException {
        boolean all = delete(lock(gone), true);
        return delete(lock(stripped), false) && all && !partial;
    }

    /**
     * Locks runs. Leaves out those that another transaction has locked or changed, and what belongs to them: the next
     * pass finds them.
     */
    private long[] lock(List<List<Due>> groups) throws SQLException {
        List<Due> all = groups.stream().flatMap(List::stream).toList();
        if (all.isEmpty()) {
            return new long[0];
        }
        Set<Long> locked = new HashSet<>();
        try (PreparedStatement statement = Database.prepare(connection, sql.lock)) {
            new Parameters(statement)
                    .longs(all.stream().mapToLong(Due::key).toArray())
                    .longs(all.stream().mapToLong(Due::epoch).toArray());
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    locked.add(rows.getLong("key"));
                }
            }
        }
        for (List<Due> group : groups) {
            partial &= group.stream().allMatch(due -> locked.contains(due.key()));
        }
        return groups.stream()
                .filter(group -> group.stream().allMatch(due -> locked.contains(due.key())))
                .flatMap(List::stream)
                .mapToLong(Due::key)
                .toArray();
    }

    private boolean delete(long[] keys, boolean whole) throws SQLException {
        if (keys.length == 0) {
            return true;
        }
        long[] deleted = new long[1];
        List<Part> parts = new ArrayList<>();
        for (String details : sql.details) {
            parts.add(new Part(
                    details,
                    parameters -> parameters.longs(keys).integer(MOST_ROWS),
                    results -> deleted[0] = Math.max(deleted[0], results.one().getLong(1))));
        }
        parts.add(new Part(sql.calls, parameters -> parameters.longs(keys)));
        script.send(connection, parts);
        rows = Math.max(rows, deleted[0]);
        if (deleted[0] >= MOST_ROWS) {
            mark(keys, "infinity");
            return false;
        }
        if (whole) {
            script.send(connection, List.of(deleteAll(sql.payloads, keys), deleteAll(sql.runs, keys)));
        } else {
            mark(keys, expiry.now().toString());
        }
        removed += keys.length;
        return true;
    }

    private static Part deleteAll(String statement, long[] keys) {
        return new Part(statement, parameters -> parameters.longs(keys).integer(Integer.MAX_VALUE));
    }

    private void mark(long[] keys, String at) throws SQLException {
        script.send(
                connection,
                List.of(new Part(sql.mark, parameters -> parameters.text(at).longs(keys))));
    }
}
