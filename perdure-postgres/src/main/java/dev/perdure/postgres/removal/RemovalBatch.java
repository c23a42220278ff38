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
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The runs that one batch removes. */
final class RemovalBatch {
    /** So many rows of a table are deleted by one batch, at most, however many rows its runs have. */
    static final int MOST_ROWS = 4_000;

    private final Connection connection;
    private final RemovalSql sql;
    private final Script script;
    private final Expiry expiry;
    private final int most;
    /** To be removed: runs that belong together. */
    private final List<Group> groups = new ArrayList<>();

    private int size;
    private int removed;
    private long rows;
    private long nanos;

    /** A run to remove, with the epoch that it has if nothing has touched it since. */
    private record Due(long key, long epoch) {}

    /**
     * Runs that belong together.
     *
     * @param root the key of the one to which the others belong
     * @param remembered whether id, input and outcome stay
     * @param runs those to remove
     */
    private record Group(long root, boolean remembered, List<Due> runs) {}

    /** A run of a tree that may fit into a batch. */
    private record Member(Due run, OldRun.Kind kind, boolean stripped, boolean named) {}

    /**
     * What is below a run, itself included.
     *
     * @param all whether it is known as a whole
     */
    private record Members(List<Member> runs, boolean all) {}

    /**
     * What was done with runs in their order.
     *
     * @param runs so many of them are removed; another transaction has the next one
     * @param complete false if they have more rows than a batch may delete, so that none is gone
     */
    record Deleted(int runs, boolean complete) {}

    /** What a batch can do with a tree. */
    enum Fit {
        /** It is in the batch, or stays. */
        DONE,
        /** The next batch begins with it. */
        LATER,
        /** It is too large for any batch. */
        NEVER
    }

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

    /** How long that took. */
    Duration took() {
        return Duration.ofNanos(nanos);
    }

    /** How many runs it has taken. */
    int size() {
        return size;
    }

    /** Whether it has taken no run. */
    boolean isEmpty() {
        return groups.isEmpty();
    }

    // ---- what is due

    /** Takes those of these runs that are due, and sets large trees aside. Returns with how many it is done. */
    int take(List<OldRun> seen, Trees trees) throws SQLException {
        List<OldRun> parental = seen.stream()
                .filter(run -> run.parental() && run.isOver(expiry) && !isAgain(run))
                .toList();
        Map<Long, Members> members = members(parental);
        int looked = 0;
        for (OldRun run : seen) {
            Fit fit = run.isOver(expiry) ? take(run, members) : Fit.DONE;
            if (fit == Fit.LATER) {
                break;
            }
            if (fit == Fit.NEVER) {
                trees.add(run.key(), false);
            }
            looked++;
        }
        return looked;
    }

    /** Takes one run with what belongs to it. */
    Fit take(OldRun run) throws SQLException {
        return take(run, run.parental() ? members(List.of(run)) : Map.of());
    }

    /** Whether nothing but what is remembered is left of a run. */
    private boolean isAgain(OldRun run) {
        return run.stripped() && expiry.isRemembered(run.kind());
    }

    private Fit take(OldRun run, Map<Long, Members> below) {
        if (isAgain(run)) {
            return Fit.DONE;
        }
        if (size == most) {
            return Fit.LATER;
        }
        if (!run.parental()) {
            add(run, expiry.isRemembered(run.kind()));
            return Fit.DONE;
        }
        Members members = below.get(run.key());
        if (members == null) {
            return Fit.LATER;
        }
        if (!members.runs().stream().allMatch(each -> expiry.isOver(each.kind()) && !each.named())) {
            return Fit.DONE;
        }
        if (!members.all() || members.runs().size() > most - size) {
            return size == 0 ? Fit.NEVER : Fit.LATER;
        }
        boolean remembered = members.runs().stream().anyMatch(each -> expiry.isRemembered(each.kind()));
        if (!remembered || !run.stripped()) {
            List<Due> due = members.runs().stream()
                    .filter(each -> !remembered || !each.stripped())
                    .map(Member::run)
                    .toList();
            groups.add(new Group(run.key(), remembered, due));
            size += members.runs().size();
        }
        return Fit.DONE;
    }

    /** Takes a run without what belongs to it. */
    void add(OldRun run, boolean remembered) {
        List<Due> due = remembered && run.stripped() ? List.of() : List.of(new Due(run.key(), run.epoch()));
        groups.add(new Group(run.key(), remembered, due));
        size++;
    }

    /** What is below these runs, as far as there may be room for it; of the first one at least. */
    private Map<Long, Members> members(List<OldRun> roots) throws SQLException {
        Map<Long, Members> members = new LinkedHashMap<>();
        if (roots.isEmpty()) {
            return members;
        }
        try (PreparedStatement statement = Database.prepare(connection, sql.members)) {
            new Parameters(statement)
                    .longs(roots.stream().mapToLong(OldRun::key).toArray())
                    .integer(most + 1);
            try (ResultSet row = statement.executeQuery()) {
                long last = 0;
                int read = 0;
                while (row.next()) {
                    read++;
                    last = row.getLong("root");
                    List<Member> runs = members.computeIfAbsent(last, root -> new Members(new ArrayList<>(), true))
                            .runs();
                    if (row.getBoolean("belongs")) {
                        runs.add(new Member(
                                new Due(row.getLong("key"), row.getLong("epoch")),
                                OldRun.Kind.of(row),
                                row.getBoolean("stripped"),
                                row.getBoolean("named")));
                    }
                }
                if (read > most) { // There may be more.
                    members.computeIfPresent(last, (root, some) -> new Members(some.runs(), false));
                }
            }
        }
        return members;
    }

    // ---- removing

    /** Removes what is due. Returns whether the pass can go on behind it. */
    boolean delete(@Nullable Trees trees) throws SQLException {
        long began = System.nanoTime();
        Set<Long> locked = lock();
        List<Group> whole = groups.stream()
                .filter(group -> group.runs().stream().allMatch(due -> locked.contains(due.key())))
                .toList(); // What others have changed or locked is found by the next pass.
        boolean complete = delete(whole);
        nanos += System.nanoTime() - began;
        if (complete || trees == null || groups.size() > 1) {
            return complete;
        }
        trees.addClosed(groups.getFirst().root(), groups.getFirst().remembered());
        return true;
    }

    /** Removes runs up to the first that another transaction has changed or locked. */
    Deleted deleteInOrder() throws SQLException {
        long began = System.nanoTime();
        Set<Long> locked = lock();
        List<Group> first = groups.stream()
                .takeWhile(group -> group.runs().stream().allMatch(due -> locked.contains(due.key())))
                .toList();
        boolean complete = delete(first);
        nanos += System.nanoTime() - began;
        return complete ? new Deleted(first.size(), true) : new Deleted(0, false);
    }

    private Set<Long> lock() throws SQLException {
        List<Due> all = groups.stream().flatMap(group -> group.runs().stream()).toList();
        Set<Long> locked = new HashSet<>();
        if (all.isEmpty()) {
            return locked;
        }
        try (PreparedStatement statement = Database.prepare(connection, sql.lock)) {
            new Parameters(statement)
                    .longs(all.stream().mapToLong(Due::key).toArray())
                    .longs(all.stream().mapToLong(Due::epoch).toArray());
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    locked.add(row.getLong("key"));
                }
            }
        }
        return locked;
    }

    private boolean delete(Collection<Group> locked) throws SQLException {
        boolean all = delete(keys(locked, false), true);
        return delete(keys(locked, true), false) && all;
    }

    private static long[] keys(Collection<Group> groups, boolean remembered) {
        return groups.stream()
                .filter(group -> group.remembered() == remembered)
                .flatMap(group -> group.runs().stream())
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
