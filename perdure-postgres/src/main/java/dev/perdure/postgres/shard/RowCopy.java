package dev.perdure.postgres.shard;

import dev.perdure.error.StoreException;
import dev.perdure.postgres.shard.RunTables.Table;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Copies rows of a partition from a transaction of the source to one of the target, and compares them there by counts and
 * checksums.
 *
 * <p>How it works. What a run that has ended keeps makes up most of a partition, and virtual objects that nobody calls stay as they are.
 * These rows are copied before the partition is closed, in batches: the runs and objects of a batch are in temporary tables
 * named going and going_object on both sides. What changes since is noted ({@link PartitionChanges}), and later passes, and at last the
 * copy after the partition is closed, copy it again.
 *
 * @param partition the partition
 * @param source from where
 * @param target to where
 */
record RowCopy(int partition, ShardServer source, ShardServer target) {
    /** The smallest number of a state in which a run has ended. */
    static final int COMPLETED = 6;

    /** What {@link #checksum} says about no rows. */
    private static final String NONE = "0 rows, checksum 0";

    /** How many runs and virtual objects go together, and the highest key of the runs. */
    record Going(long runs, long last, long objects) {}

    private String sql(ShardServer server, String text) {
        return server.schema()
                .sql(text.replace("${partition}", Integer.toString(partition))
                        .replace("${completed}", Integer.toString(COMPLETED)));
    }

    /** Chooses noted runs that have ended, at most so many after a key, and as many objects; takes away what the target has of them. */
    Going takeEnded(Connection from, Connection to, List<Table> tables, long after, int most) throws SQLException {
        return take(
                from,
                to,
                tables,
                MovingSql.GOING_ENDED.replace("${after}", Long.toString(after)),
                Integer.toString(most));
    }

    /** Chooses everything that is noted, and takes away what the target has of it. */
    Going takeLast(Connection from, Connection to, List<Table> tables) throws SQLException {
        return take(from, to, tables, MovingSql.GOING_LAST, "ALL");
    }

    private Going take(Connection from, Connection to, List<Table> tables, String runs, String most)
            throws SQLException {
        ShardServer.executeAll(
                from,
                List.of(
                        sql(source, runs.replace("${most}", most)),
                        sql(source, MovingSql.GOING_OBJECTS.replace("${most}", most)),
                        MovingSql.ANALYZE_GOING));
        ShardServer.execute(to, MovingSql.NO_GOING);
        Pipe.copy(from, MovingSql.GOING_OUT, to, MovingSql.GOING_IN);
        Pipe.copy(from, MovingSql.GOING_OBJECTS_OUT, to, MovingSql.GOING_OBJECTS_IN);
        ShardServer.executeAll(to, List.of(sql(target, MovingSql.GOING_REPLACED), MovingSql.ANALYZE_GOING));
        if (has(to, sql(target, MovingSql.HAS_GOING))) {
            takeAway(to, tables);
        }
        try (Statement statement = from.createStatement();
                ResultSet row = statement.executeQuery(MovingSql.GOING)) {
            row.next();
            return new Going(row.getLong("runs"), row.getLong("last"), row.getLong("objects"));
        }
    }

    private static boolean has(Connection connection, String question) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(question)) {
            row.next();
            return row.getBoolean(1);
        }
    }

    /** The target has what was chosen. What is noted after the snapshot stays noted. */
    void forgetGoing(Connection from) throws SQLException {
        ShardServer.execute(from, sql(source, MovingSql.FORGET_GOING));
    }

    /** Compares the keys of the runs that are not noted: the target has to have all of them and no others. */
    void compareArrived(Connection from, Connection to) throws SQLException {
        ShardServer.execute(from, sql(source, MovingSql.GOING_LAST));
        ShardServer.execute(to, MovingSql.NO_GOING);
        Pipe.copy(from, MovingSql.GOING_OUT, to, MovingSql.GOING_IN);
        String expected = checksum(from, sql(source, MovingSql.ARRIVED));
        String found = checksum(to, sql(target, MovingSql.ARRIVED));
        if (!expected.equals(found)) {
            throw differ("run", found, expected);
        }
    }

    private void takeAway(Connection to, List<Table> tables) throws SQLException {
        ShardServer.executeAll(
                to,
                tables.stream()
                        .filter(Table::goesBefore)
                        .map(table -> table.sqlOfGoing(target.schema(), MovingSql.DELETE, partition))
                        .toList());
    }

    /**
     * Copies the rows of these tables, and returns how many there are: of the chosen runs and objects, or of the whole
     * partition if they do not go before it is closed. Each server is asked once about all tables, because runs may stand
     * still meanwhile, and most tables have no such rows.
     */
    long copy(List<Table> tables, Connection from, Connection to) throws SQLException {
        Map<String, String> expected = checksums(from, source, tables, table -> MovingSql.CHECKSUM);
        long rows = 0;
        for (Table table : tables) {
            if (table.isShared()) {
                ShardServer.execute(to, text(table, target, MovingSql.ARRIVING));
            }
            if (!NONE.equals(expected.get(table.name()))) {
                rows += Pipe.copy(
                        from,
                        text(table, source, MovingSql.COPY_OUT),
                        to,
                        text(table, target, table.isShared() ? MovingSql.COPY_IN_ARRIVING : MovingSql.COPY_IN));
            }
        }
        Map<String, String> found = checksums(
                to, target, tables, table -> table.isShared() ? MovingSql.CHECKSUM_ARRIVING : MovingSql.CHECKSUM);
        for (Table table : tables) {
            String here = String.valueOf(found.get(table.name()));
            String there = String.valueOf(expected.get(table.name()));
            if (!here.equals(there)) {
                throw differ(table.name(), here, there);
            }
            if (table.isShared()) {
                ShardServer.execute(to, text(table, target, MovingSql.TAKE_ARRIVING));
            }
        }
        return rows;
    }

    private Map<String, String> checksums(
            Connection connection, ShardServer server, List<Table> tables, Function<Table, String> checksum)
            throws SQLException {
        String all = tables.stream()
                .map(table -> "SELECT '%s' AS name, c.rows, c.sum FROM (%s) c"
                        .formatted(table.name(), text(table, server, checksum.apply(table))))
                .collect(Collectors.joining("\nUNION ALL\n"));
        Map<String, String> checksums = new HashMap<>();
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(all)) {
            while (rows.next()) {
                checksums.put(rows.getString("name"), checksum(rows));
            }
        }
        return checksums;
    }

    private String text(Table table, ShardServer server, String text) {
        return table.goesBefore()
                ? table.sqlOfGoing(server.schema(), text, partition)
                : table.sql(server.schema(), text, partition);
    }

    private StoreException differ(String table, String found, String expected) {
        return new StoreException(
                StoreException.Kind.UNUSABLE,
                "Partition %s was not moved: the rows of table %s on shard '%s' (%s) differ from those on shard '%s' (%s)."
                        .formatted(partition, table, target.name(), found, source.name(), expected),
                null);
    }

    private static String checksum(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return checksum(row);
        }
    }

    private static String checksum(ResultSet row) throws SQLException {
        return "%s rows, checksum %s".formatted(row.getLong("rows"), row.getString("sum"));
    }
}
