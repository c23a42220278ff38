package dev.perdure.postgres.shard;

import dev.perdure.error.StoreException;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Database.LockedException;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.shard.RowCopy.Going;
import dev.perdure.postgres.shard.RunTables.Table;
import dev.perdure.postgres.shard.ShardServer.Phase;
import dev.perdure.spi.Hints;
import dev.perdure.spi.shard.Partitions;
import dev.perdure.spi.shard.ShardMap;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The steps in which a partition goes from one database to another. Each is one transaction on one server.
 *
 * <p>How it works. {@link #expect} lets the target keep what comes, and {@link #copyEnded} writes there what has ended,
 * while the partition is open. {@link #close} lets the source refuse the partition by a constraint on its tables, so no process can change
 * it any more, whatever map it has; and it sets aside what polls would find. {@link #copy} writes everything else to the target,
 * compares counts and checksums, and stores the new map there: this commit decides. {@link #open} puts back at the target
 * what was set aside, and inserts a row for which the target's constraint asks, so it needs no lock of a table. A crash before the commit of {@link #copy} leaves the partition closed at the source, with everything
 * there; {@link #reopen} or another try follows. A crash after it leaves the partition closed at the target, with everything
 * there, and the next try goes on with {@link #open}.
 */
public final class PartitionMove {
    /** The kinds of keys of starts, by their numbers in the table. */
    private static final List<String> KINDS = List.of("Deduplication", "IdempotencyKey", "Debounce");

    /** How many ended runs are copied in one transaction. */
    private static final int BATCH = 5_000;
    /** After how many of them there is a sentence about the progress. */
    private static final int MANY = 10 * BATCH;
    /** So that runs which end faster than they are copied do not delay the move for ever. */
    private static final int MOST_PASSES = 5;

    private final int partition;
    private final ShardServer source;
    private final ShardServer target;
    private final Consumer<String> progress;
    private final RowCopy rows;
    private final PartitionChanges changes;
    /** What {@link #tables(ShardServer)} has read, so that it is not read while runs stand still. */
    private final Map<ShardServer, List<Table>> tables = new HashMap<>();
    /** Whether the changes of the partition are noted since everything was. */
    private boolean watched;
    /** Since when the target expects the partition: what tells this move from every other one. */
    private String expected = "";

    /**
     * A move.
     *
     * @param progress gets a sentence about each step
     */
    public PartitionMove(int partition, ShardServer source, ShardServer target, Consumer<String> progress) {
        this.partition = partition;
        this.source = source;
        this.target = target;
        this.progress = progress;
        this.rows = new RowCopy(partition, source, target);
        this.changes = new PartitionChanges(partition, source);
    }

    private static StoreException unusable(String message) {
        return new StoreException(StoreException.Kind.UNUSABLE, message, null);
    }

    private String sql(ShardServer server, String text) {
        return sql(server, text, partition);
    }

    /** A statement for the target that has no effect if another move has begun. */
    private String sqlOfThis(String text) {
        return sql(target, text.replace("${expected}", expected));
    }

    private static String sql(ShardServer server, String text, int partition) {
        return server.schema().sql(text.replace("${partition}", Integer.toString(partition)));
    }

    // ---- preparation

    /** Builds the indexes by which moves find rows. They cost every insert something, so they are dropped afterwards. */
    public static void index(ShardServer server) {
        dropIndexes(server, MovingSql.HAS_UNUSABLE_INDEX);
        server.each(indexed(server).stream()
                .map(table -> table.sql(server.schema(), MovingSql.INDEX, 0))
                .toList());
    }

    /** Drops them, where they are. */
    public static void dropIndexes(ShardServer server) {
        dropIndexes(server, MovingSql.HAS_INDEX);
    }

    private static void dropIndexes(ShardServer server, String which) {
        List<Table> tables = indexed(server).stream()
                .filter(table -> server.has(table.sql(server.schema(), which, 0)))
                .toList();
        if (tables.isEmpty()) {
            return; // and nobody waits for a lock
        }
        server.alone(tables, connection -> {
            for (Table table : tables) {
                ShardServer.execute(connection, table.sql(server.schema(), MovingSql.NO_INDEX, 0));
            }
            return true;
        });
    }

    private static List<Table> indexed(ShardServer server) {
        return server.inTransaction(connection -> tables(server, connection)).stream()
                .filter(Table::needsIndex)
                .toList();
    }

    private static List<Table> tables(ShardServer server, Connection connection) throws SQLException {
        return RunTables.of(connection, server.schema());
    }

    private List<Table> tables(ShardServer server) {
        return tables.computeIfAbsent(server, unread -> server.inTransaction(connection -> tables(server, connection)));
    }

    /** Refuses a partition whose rows do not belong together, or hold places, before anything is changed. */
    public void check() {
        source.inTransaction(connection -> {
            DividedLimits.requireNoPlaces(source, connection, partition);
            requireNotes(connection);
            requireWithObjects(connection, MovingSql.STRANGE_CALL);
            try (Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery(sql(source, MovingSql.START_KEYS))) {
                while (row.next()) {
                    int ofRun = Partitions.ofKey(row.getLong("run"));
                    int ofKey = Partitions.ofStart(
                            row.getString("definition"), KINDS.get(row.getInt("kind")), row.getString("start_key"));
                    if (ofRun != ofKey && (ofRun == partition || ofKey == partition)) {
                        throw unusable(
                                "Partition %s cannot be moved: the start key '%s' of '%s' names a run of another partition. Leave the ids of runs that are started under keys to Perdure, and move the partition when the key is free."
                                        .formatted(partition, row.getString("start_key"), row.getString("definition")));
                    }
                }
            }
            return true;
        });
    }

    private void requireWithObjects(Connection connection, String strangeCall) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql(source, strangeCall))) {
            if (row.next()) {
                throw unusable(
                        "Partition %s cannot be moved: the run '%s' calls the object '%s' with the key '%s', and only one of the two is in this partition. Leave the ids of calls to Perdure, and move the partition when retention has removed such runs."
                                .formatted(partition, row.getString(1), row.getString(2), row.getString(3)));
            }
        }
    }

    /** A role without the right would be refused every change of the partition while it is copied. */
    private void requireNotes(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql(source, MovingSql.CANNOT_NOTE))) {
            if (row.next()) {
                throw unusable(
                        "Partition %s cannot be moved: the role %s writes runs of shard '%s' and may not insert into the table partition_change. Run roles.sql again, as after every migration."
                                .formatted(partition, row.getString("role"), source.name()));
            }
        }
    }

    // ---- the steps

    /** The target takes no changes of the partition before it is open there, and keeps what is copied. */
    public void expect() {
        expected = guarded(target, Phase.ARRIVING, source.name(), connection -> {
            try (Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery(sql(target, MovingSql.EXPECTED))) {
                row.next();
                return row.getString("since");
            }
        });
    }

    /**
     * Copies runs that have ended and virtual objects, in batches, while the partition is open at the source. Further passes
     * copy what has ended or changed meanwhile, until that is little.
     */
    public void copyEnded() {
        List<Table> before = tables(source).stream().filter(Table::goesBefore).toList();
        changes.watch();
        watched = true;
        long copied = Long.MAX_VALUE;
        for (int pass = 1; pass <= MOST_PASSES && copied > BATCH; pass++) {
            changes.linkEnded();
            copied = copyEnded(before);
        }
        changes.linkEnded(); // of runs that have ended since; this notes them
        changes.noteParents();
        target.inTransaction(to -> source.onSnapshot(from -> {
            rows.compareArrived(from, to);
            return true;
        }));
    }

    /** One pass; gives how many runs and objects it has copied. */
    private long copyEnded(List<Table> before) {
        long runs = 0;
        long objects = 0;
        long noted = changes.objects();
        Going going = new Going(BATCH, 0, 0);
        while (going.runs() == BATCH
                || (going.objects() == BATCH && objects < noted)) { // some may be noted again and again
            long after = going.last();
            going = source.onSnapshot(from -> {
                Going batch = target.inTransaction(to -> {
                    requireArriving(to);
                    Going taken = rows.takeEnded(from, to, before, after, BATCH);
                    rows.copy(before, from, to);
                    return taken;
                });
                rows.forgetGoing(from); // after the commit of the target: what is copied twice does no harm
                return batch;
            });
            runs += going.runs();
            objects += going.objects();
            if ((runs + objects) % MANY == 0 && going.runs() + going.objects() > 0) {
                progress.accept("Partition %s is open; %s ended runs and %s objects are copied so far."
                        .formatted(partition, runs, objects));
            }
        }
        progress.accept("Partition %s is open, and %s ended runs and %s objects are copied to shard '%s'."
                .formatted(partition, runs, objects, target.name()));
        return runs + objects;
    }

    /** Otherwise a batch that is committed late would leave rows that nobody removes. */
    private void requireArriving(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sqlOfThis(MovingSql.LOCK_ARRIVING))) {
            if (!row.next()) {
                throw unusable("The move of partition %s to shard '%s' was given up. Run the command again."
                        .formatted(partition, target.name()));
            }
        }
    }

    /** The source takes no more changes of the partition. Returns the monotonic time since when its runs stand still. */
    public long close() {
        long since = guarded(source, Phase.LEAVING, target.name(), connection -> {
            long now = System.nanoTime();
            DividedLimits.requireNoPlaces(source, connection, partition); // again: now none can take one any more
            if (!watched) {
                changes.noteAll(connection); // nothing was copied before
            }
            requireWithObjects(connection, MovingSql.STRANGE_NEW_CALL);
            changes.linkOthers(connection);
            changes.unwatch(connection, tables(source));
            ShardServer.executeAll(
                    connection,
                    tables(source).stream()
                            .filter(table -> table.isSetAside() || !table.isCopied())
                            .map(table -> table.sql(
                                    source.schema(),
                                    table.isSetAside() ? MovingSql.SET_ASIDE : MovingSql.DELETE,
                                    partition))
                            .toList());
            return now;
        });
        progress.accept("Partition %s is closed on shard '%s'.".formatted(partition, source.name()));
        return since;
    }

    /** Closes the partition on a shard, and does something in the same transaction. */
    private <T> T guarded(ShardServer server, Phase phase, String other, Database.Work<T> work) {
        return server.alone(tables(server), connection -> {
            mark(server, connection, phase, other);
            server.guard(connection, tables(server));
            return work.on(connection);
        });
    }

    private void mark(ShardServer server, Connection connection, Phase phase, String other) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql(server, MovingSql.CLOSE))) {
            new Parameters(statement).integer(partition).text(phase.name()).text(other);
            statement.executeUpdate();
        }
    }

    /** Copies everything that was not copied before, compares it, and stores the map by which the partition is on the target. */
    public void copy(ShardMap before, ShardMap after) {
        long count = target.inTransaction(to -> source.onSnapshot(from -> {
            rows.takeLast(from, to, tables(source));
            long copied =
                    rows.copy(tables(source).stream().filter(Table::isCopied).toList(), from, to);
            copied += Pipe.copy(
                    from, sql(source, MovingSql.COPY_SET_ASIDE_OUT), to, sql(target, MovingSql.COPY_SET_ASIDE_IN));
            ShardServer.execute(to, sql(target, MovingSql.TAKE_OVER));
            ShardServer.execute(to, sql(target, MovingSql.LOCK_MAP));
            try (PreparedStatement statement = to.prepareStatement(sqlOfThis(MovingSql.MAP))) {
                new Parameters(statement)
                        .integer(after.version())
                        .texts(after.owners())
                        .integer(before.version());
                if (statement.executeUpdate() != 1) {
                    throw unusable(
                            "The map of shard '%s' has changed meanwhile, or the move was given up. Run the command again."
                                    .formatted(target.name()));
                }
            }
            return copied;
        }));
        progress.accept("Partition %s is copied to shard '%s': %s rows, compared by counts and checksums."
                .formatted(partition, target.name(), count));
    }

    /**
     * The target takes changes of the partition. That inserts and deletes rows and changes no table, so it neither waits for
     * transactions of others nor lets them wait. The constraint is made anew when nothing stands still any more
     * ({@link #forgetArrived}), or by the next move.
     */
    public void open() {
        target.patientlySoon(connection -> {
            List<String> statements = new ArrayList<>(List.of(sql(target, MovingSql.ARRIVE)));
            statements.addAll(putBack(target));
            ShardServer.executeAll(connection, statements);
            target.tell(connection, new Hints.WorkReady());
            return true;
        });
        progress.accept("Partition %s is open on shard '%s'.".formatted(partition, target.name()));
    }

    /** The source takes changes of the partition again. */
    private void openAgain() {
        source.aloneSoon(tables(source), connection -> {
            ShardServer.execute(connection, sql(source, MovingSql.OPEN));
            source.guard(connection, tables(source));
            changes.unwatch(connection, tables(source));
            ShardServer.execute(connection, sql(source, MovingSql.TAKE_OVER_LOST));
            ShardServer.executeAll(connection, putBack(source));
            source.tell(connection, new Hints.WorkReady());
            return true;
        });
        changes.forget();
    }

    /** The statements that put back what was set aside. */
    private List<String> putBack(ShardServer server) {
        List<String> back = new ArrayList<>(List.of(sql(server, MovingSql.STRANGER)));
        tables(server).stream()
                .filter(Table::isSetAside)
                .map(table -> table.sql(server.schema(), MovingSql.PUT_BACK, partition))
                .forEach(back::add);
        back.add(sql(server, MovingSql.FORGET_SET_ASIDE));
        return back;
    }

    /** Lets the constraint no longer name partitions that have arrived, so that their rows cost no look at a table any more. */
    public static void forgetArrived(ShardServer server) {
        if (server.has(server.schema().sql(MovingSql.HAS_ARRIVED))) {
            List<Table> tables = server.inTransaction(connection -> tables(server, connection));
            server.alone(tables, connection -> {
                server.guard(connection, tables);
                return true;
            });
        }
    }

    /**
     * The source takes changes of the partition again, if it was not moved. The commit that decides may have arrived although
     * its answer did not, or may still be on its way: then its transaction holds the lock of the map, and nothing is opened.
     * The source is opened under that lock, and a copy that comes later finds that nothing is to arrive. The target refuses
     * the partition from then on: it may have had it before, and a process may have the map of that time.
     */
    public void reopen() {
        try {
            target.inTransaction(connection -> {
                if (isAtTarget(connection)) {
                    throw unusable("Partition %s has moved to shard '%s'. Run the command again to finish the move."
                            .formatted(partition, target.name()));
                }
                ShardServer.execute(
                        connection, sql(target, MovingSql.GIVE_UP)); // before: no batch comes after the deletes
                openAgain();
                for (Table table : tables(target, connection).reversed()) { // the runs last
                    if (table.goesBefore()) {
                        ShardServer.execute(connection, table.sqlOfRuns(target.schema(), MovingSql.DELETE, partition));
                    }
                }
                return true;
            });
        } catch (LockedException underWay) {
            throw new StoreException(
                    StoreException.Kind.UNAVAILABLE,
                    "A transaction that moves a partition to shard '%s' has not ended. Run the command again when it has."
                            .formatted(target.name()),
                    underWay);
        }
        progress.accept("Partition %s is open on shard '%s' again.".formatted(partition, source.name()));
    }

    private boolean isAtTarget(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql(target, MovingSql.LOCK_MAP))) {
            return row.next() && row.getBoolean("here");
        }
    }

    /** The source knows that the partition has left. */
    public void leave(ShardMap map) {
        source.inTransaction(connection -> {
            mark(source, connection, Phase.LEFT, target.name());
            ShardServer.execute(connection, sql(source, MovingSql.FORGET_CHANGES));
            NewShard.tell(source, connection, map);
            return true;
        });
    }

    /** Removes the rows at the source, unless the partition has come back or they are removed already. */
    public void remove() {
        remove(source, partition, progress);
    }

    /** The same where the partition was, whether or not the shard that has got it is still there. */
    public static void remove(ShardServer source, int partition, Consumer<String> progress) {
        boolean removed = source.inTransaction(connection -> {
            try (Statement statement = connection.createStatement();
                    ResultSet left = statement.executeQuery(sql(source, MovingSql.LOCK_LEFT, partition))) {
                if (!left.next()) {
                    return false;
                }
            }
            for (Table table : tables(source, connection).reversed()) { // the runs last
                if (!table.isShared()) {
                    ShardServer.execute(connection, table.sql(source.schema(), MovingSql.DELETE, partition));
                }
            }
            ShardServer.execute(connection, sql(source, MovingSql.FORGET_SET_ASIDE, partition));
            ShardServer.execute(connection, sql(source, MovingSql.GONE, partition));
            return true;
        });
        if (removed) {
            progress.accept(
                    "The rows of partition %s are removed from shard '%s'.".formatted(partition, source.name()));
        }
    }
}
