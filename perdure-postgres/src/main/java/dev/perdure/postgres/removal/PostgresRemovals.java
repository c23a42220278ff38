package dev.perdure.postgres.removal;

import dev.perdure.RunId;
import dev.perdure.postgres.jdbc.AuditText;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Database.LockedException;
import dev.perdure.postgres.jdbc.Json;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.jdbc.Part;
import dev.perdure.postgres.jdbc.Query;
import dev.perdure.postgres.jdbc.Results;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.jdbc.Script;
import dev.perdure.postgres.write.part.LedgerSql;
import dev.perdure.retention.Retention;
import dev.perdure.retention.RetentionInfo;
import dev.perdure.spi.Audit;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Removals;
import dev.perdure.spi.change.Change;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Removes runs whose retention is over.
 *
 * <p>How it works: a pass looks at all runs that are old enough, in the order of their starts, which have an index and
 * never change; so ends of runs cost nothing more. A batch is a transaction. It locks the row of {@code retention},
 * which says how far the pass is, looks at the next runs, locks those that are due, deletes everything of them, and
 * moves on. It never waits for a lock, deletes a bounded number of rows, and is made smaller if its deletes take long. A crash
 * between two batches loses nothing.
 *
 * <p>A run goes together with its children and tasks. If they are too many for one batch, or if a run has too many rows for one,
 * it is set aside ({@link Trees}): half of each batch is for such runs, the other half for the pass.
 */
public final class PostgresRemovals implements Removals {
    /** So many entries of the audit are removed by one batch, at most. */
    private static final int AUDIT_ENTRIES = 1_000;

    /** A batch looks at so many times as many runs as it removes: most of them may stay. */
    private static final int LOOKS = 4;

    /** A batch should take no longer than this, because others may wait for what it locks. */
    private static final Duration LONG = Duration.ofMillis(50);

    /** A batch is not made smaller than this for its time: what it takes is not due to its runs then. */
    private static final int FIRST_SIZE = 100;
    /** So many answers a batch waits for while it has locked runs. */
    private static final int ANSWERS = 3;
    /** How long to wait if another transaction has the row of {@code retention}. */
    private static final Duration LOCKED = Duration.ofSeconds(1);

    private static final Duration LONGEST_REST = Duration.ofMinutes(1);
    private static final Duration LONGEST_PASS_REST = Duration.ofHours(1);
    /** A pass over runs that stay is not repeated before so many a second are reached. */
    private static final long KEPT_PER_SECOND = 20_000;

    private final Database database;
    private final RemovalSql sql;
    private final String settings;
    private final Script script = new Script();
    private final AtomicInteger size = new AtomicInteger(FIRST_SIZE);

    public PostgresRemovals(Database database, Schema schema, LedgerSql ledgerSql) {
        this.database = database;
        this.sql = new RemovalSql(schema);
        this.settings = ledgerSql.settings;
    }

    // ---- the rules

    @Override
    public void declare(Retention retention) {
        String json = Json.object(retention.settings());
        update(sql.declare, parameters -> parameters.text(json).text(json));
    }

    @Override
    public void change(@Nullable Retention retention, @Nullable Audit audit) {
        update(
                sql.change,
                parameters -> AuditText.bind(
                        parameters.text(retention == null ? null : Json.object(retention.settings())),
                        audit,
                        database.time()));
    }

    private void update(String statement, Query.Binding binding) {
        database.call(connection -> {
            try (PreparedStatement prepared = Database.prepare(connection, statement)) {
                binding.bind(new Parameters(prepared));
                return prepared.execute();
            }
        });
    }

    @Override
    public RetentionInfo info() {
        return stored().info();
    }

    /** What the table says. */
    private record Stored(RetentionInfo info, boolean due) {}

    private Stored stored() {
        return new Query(database)
                .all(sql.info, parameters -> parameters.time(database.time()), row -> {
                    RetentionInfo.Pass pass = new RetentionInfo.Pass(
                            Optional.ofNullable(Results.timeOrNull(row, "began_at")),
                            row.getLong("looked"),
                            row.getLong("removed"));
                    return new Stored(
                            new RetentionInfo(
                                    declared(row),
                                    changed(row),
                                    pass,
                                    row.getBoolean("passing")
                                            ? Optional.empty()
                                            : Optional.of(Results.time(row, "next_at"))),
                            row.getBoolean("due"));
                })
                .getFirst();
    }

    private Retention declared(ResultSet row) throws SQLException {
        return read(row, "declared").orElseGet(Retention::standard);
    }

    private Optional<Retention> changed(ResultSet row) throws SQLException {
        return read(row, "changed");
    }

    /** While it cannot be read, nothing is removed. */
    private Optional<Retention> read(ResultSet row, String column) throws SQLException {
        try {
            Map<String, String> settings = Results.pairs(row, column);
            return settings.isEmpty() ? Optional.empty() : Optional.of(Retention.of(settings));
        } catch (RuntimeException unreadable) {
            database.unreadable().leave("of retention, where it says what is " + column + ",", unreadable);
            return Optional.of(Retention.of(Retention.FOREVER).keepAudit(Retention.FOREVER));
        }
    }

    private Retention effective(ResultSet row) throws SQLException {
        Retention declared = declared(row);
        return changed(row).map(retention -> retention.inPlaceOf(declared)).orElse(declared);
    }

    // ---- a batch

    @Override
    public Removed remove(int limit) {
        Stored stored = stored();
        Duration rest = atMost(LONGEST_REST, rest(stored.info().effective()));
        if (!stored.due()) {
            return new Removed(0, rest);
        }
        int most = Math.min(limit, size.get());
        try {
            int looks = Math.min(limit, LOOKS * most);
            Done done = database.inTransaction(connection -> batch(connection, most, looks));
            adapt(most, done);
            return new Removed(done.runs(), done.more() ? Duration.ZERO : rest);
        } catch (LockedException busy) {
            return beside(most);
        }
    }

    /** Another transaction has rows that a batch needs. A batch of one run shows which run that is, and the next pass finds it. */
    private Removed beside(int most) {
        size.set(1);
        if (most > 1) {
            return new Removed(0, Duration.ZERO);
        }
        try {
            database.inTransaction(connection -> {
                skip(connection);
                return null;
            });
            return new Removed(0, Duration.ZERO);
        } catch (LockedException busy) {
            return new Removed(0, LOCKED);
        }
    }

    @Override
    public Outcome delete(RunId run, Change.Seen seen, Audit audit) {
        RunDeletion deletion = new RunDeletion(sql, script, run, seen, audit);
        Outcome outcome = null;
        while (outcome == null) {
            try {
                outcome = database.inTransaction(connection -> {
                    script.send(connection, List.of(lockTimeout()));
                    return deletion.batch(connection, database.time(), FIRST_SIZE);
                });
            } catch (LockedException busy) {
                return RunDeletion.locked(run);
            }
        }
        return outcome;
    }

    private Part lockTimeout() {
        return new Part(settings, parameters -> parameters.text(Database.LOCK_TIMEOUT));
    }

    /**
     * A batch whose deletes took long, or whose runs have more rows than it may delete, is followed by a smaller one. Waiting for
     * answers is no work: a smaller batch would wait as long.
     */
    private void adapt(int used, Done done) {
        if (done.rows() >= RemovalBatch.MOST_ROWS) {
            size.set(Math.max(1, used / 2));
        } else if (done.work().compareTo(LONG) > 0) {
            size.set(Math.max(Math.min(used, FIRST_SIZE), used / 2));
        } else if (done.work().multipliedBy(2).compareTo(LONG) < 0
                && done.rows() <= RemovalBatch.MOST_ROWS / 2
                && used == size.get()) {
            size.set(used * 2);
        }
    }

    private static Duration rest(Retention rules) {
        return atMost(LONGEST_PASS_REST, Removals.rest(rules));
    }

    private static Duration atMost(Duration most, Duration duration) {
        return duration.compareTo(most) > 0 ? most : duration;
    }

    /**
     * What a batch has done.
     *
     * @param runs how many runs it has removed
     * @param rows how many rows of one table it has deleted
     * @param work how long its deletes took, without the time in which it waited for answers
     * @param more whether there is more to do
     */
    private record Done(int runs, long rows, Duration work, boolean more) {}

    /** Where a pass is. */
    private record Turn(Instant now, Instant next, Instant at, long key, long looked, long removed, Retention rules) {
        boolean isPassing() {
            return !next.isAfter(now);
        }
    }

    private Done batch(Connection connection, int most, int looks) throws SQLException {
        script.send(connection, List.of(lockTimeout()));
        long asked = System.nanoTime();
        Turn turn = turn(connection);
        long answered = System.nanoTime();
        if (turn == null) {
            return new Done(0, 0, Duration.ZERO, false);
        }
        boolean audited = removeAudit(connection, turn);
        Expiry expiry = new Expiry(turn.rules(), turn.now());
        Trees trees = new Trees(connection, sql, script, turn.now());
        Tree tree = trees.next();
        int room = tree == null ? most : Math.max(1, most / 2);
        RemovalBatch batch = new RemovalBatch(connection, sql, script, expiry, room);
        List<OldRun> seen = look(connection, turn, looks);
        int looked = batch.take(seen, trees);
        boolean finished = batch.delete(trees);
        boolean more = trees.isAdded();
        if (tree != null) {
            Trees.Progress progress = trees.goOn(tree, expiry, Math.max(room, most - batch.size()));
            more |= progress.result() != Trees.Result.LOCKED;
        }
        RemovalBatch below = trees.batch();
        int runs = batch.removed() + (below == null ? 0 : below.removed());
        if (turn.isPassing()) {
            boolean ended = finished && looked == seen.size() && seen.size() < looks && audited;
            reached(connection, turn, ended, finished && looked > 0 ? seen.get(looked - 1) : null, looked, runs);
            more |= !ended;
        }
        Duration answers = Duration.ofNanos(ANSWERS * (answered - asked));
        Duration work = below == null || below.took().compareTo(batch.took()) < 0 ? batch.took() : below.took();
        long rows = below == null ? batch.rows() : Math.max(batch.rows(), below.rows());
        return new Done(runs, rows, work.minus(answers), more);
    }

    /** Leaves alone what comes next: the next pass finds it. */
    private void skip(Connection connection) throws SQLException {
        script.send(connection, List.of(lockTimeout()));
        Turn turn = turn(connection);
        if (turn != null) {
            Trees trees = new Trees(connection, sql, script, turn.now());
            Tree tree = trees.next();
            if (tree != null) {
                trees.pause(tree);
            }
            List<OldRun> seen = look(connection, turn, 1);
            if (!seen.isEmpty()) {
                reached(connection, turn, false, seen.getFirst(), 1, 0);
            }
        }
    }

    /** Whether no old entries are left. */
    private boolean removeAudit(Connection connection, Turn turn) throws SQLException {
        Duration period = turn.rules().audit();
        if (period.equals(Retention.FOREVER)) {
            return true;
        }
        try (PreparedStatement statement = Database.prepare(connection, sql.audit)) {
            new Parameters(statement).time(turn.now().minus(period)).integer(AUDIT_ENTRIES);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() && row.getInt(1) < AUDIT_ENTRIES;
            }
        }
    }

    private @Nullable Turn turn(Connection connection) throws SQLException {
        try (PreparedStatement statement = Database.prepare(connection, sql.turn)) {
            new Parameters(statement).time(database.time());
            try (ResultSet row = statement.executeQuery()) {
                return row.next()
                        ? new Turn(
                                Results.time(row, "now"),
                                Results.time(row, "next_at"),
                                Results.time(row, "reached_at"),
                                row.getLong("reached_key"),
                                row.getLong("looked"),
                                row.getLong("removed"),
                                effective(row))
                        : null;
            }
        }
    }

    /** The next pass begins after a rest, a longer one if this one has looked at many runs that stay. */
    private void reached(
            Connection connection, Turn turn, boolean ended, @Nullable OldRun last, int looked, int removed)
            throws SQLException {
        boolean first = turn.key() == 0;
        long allLooked = (first ? 0 : turn.looked()) + looked;
        long allRemoved = (first ? 0 : turn.removed()) + removed;
        Duration kept = Duration.ofSeconds((allLooked - allRemoved) / KEPT_PER_SECOND);
        Duration rest = rest(turn.rules());
        Instant next = ended ? turn.now().plus(kept.compareTo(rest) > 0 ? kept : rest) : turn.now();
        Instant at = last == null ? turn.at() : last.createdAt();
        long key = last == null ? turn.key() : last.key();
        try (PreparedStatement statement = Database.prepare(connection, sql.reached)) {
            new Parameters(statement)
                    .time(ended ? null : at)
                    .number(ended ? 0 : key)
                    .number(allLooked)
                    .number(allRemoved)
                    .time(turn.now())
                    .time(next);
            statement.execute();
        }
    }

    private List<OldRun> look(Connection connection, Turn turn, int most) throws SQLException {
        if (!turn.isPassing() || turn.rules().shortest().equals(Retention.FOREVER)) {
            return List.of();
        }
        Instant youngest = turn.now().minus(turn.rules().shortest());
        try (PreparedStatement statement = Database.prepare(connection, sql.look)) {
            new Parameters(statement)
                    .time(turn.at())
                    .time(turn.at())
                    .number(turn.key())
                    .time(youngest)
                    .integer(most)
                    .integer(most);
            try (ResultSet rows = statement.executeQuery()) {
                List<OldRun> seen = new ArrayList<>();
                while (rows.next()) {
                    seen.add(OldRun.of(rows));
                }
                return seen;
            }
        }
    }
}
