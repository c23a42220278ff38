package dev.perdure.postgres.shard;

import dev.perdure.error.StoreException;
import dev.perdure.postgres.shard.RunTables.Table;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

/**
 * Copies rows of a partition from a transaction of the source to one of the target, and compares them there by counts and
 * checksums.
 *
 * <p>How it works. What a run that has ended keeps as it is (its row, its journal, its states, what it published) makes up most of a
 * partition. These rows are copied before the partition is closed, in batches: the runs of a batch are in a temporary table
 * named going on both sides. PostgreSQL keeps with each row the transaction that wrote it, so a later pass, and at last the
 * copy after the partition is closed, find the runs that have changed since and copy those again.
 *
 * @param partition the partition
 * @param source from where
 * @param target to where
 */
record RowCopy(int partition, ShardServer source, ShardServer target) {
    /** Which runs a pass or the last copy takes. */
    static final String ALL = "true";

    /** The smallest number of a state in which a run has ended. */
    private static final int COMPLETED = 6;

    /** How many runs go together, and the highest of their keys. */
    record Going(long runs, long last) {}

    static String since(String transaction) {
        return "age(xmin) <= age('%s'::xid)".formatted(transaction);
    }

    private String sql(ShardServer server, String text, String since) {
        return server.schema()
                .sql(text.replace("${partition}", Integer.toString(partition))
                        .replace("${completed}", Integer.toString(COMPLETED))
                        .replace("${since}", since));
    }

    /** The oldest transaction that a snapshot may not have. */
    static String begins(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(MovingSql.SNAPSHOT_BEGINS)) {
            row.next();
            return row.getString(1);
        }
    }

    /** Chooses runs that have ended, at most so many after a key, and takes away what the target has of them. */
    Going takeEnded(Connection from, Connection to, List<Table> tables, long after, String since, int most)
            throws SQLException {
        String text = MovingSql.GOING_ENDED
                .replace("${after}", Long.toString(after))
                .replace("${most}", Integer.toString(most));
        return take(from, to, tables, sql(source, text, since), since.equals(ALL));
    }

    /** Chooses all other runs, and takes away what the target has of them, and of runs that are no more at the source. */
    Going takeLast(Connection from, Connection to, List<Table> tables, String since) throws SQLException {
        Going going = take(from, to, tables, sql(source, MovingSql.GOING_LAST, since), false);
        String stayed = checksum(from, sql(source, MovingSql.STAYED, since));
        if (!stayed.equals(checksum(to, sql(target, MovingSql.ARRIVED, since)))) {
            ShardServer.execute(to, MovingSql.NO_STAYED);
            Pipe.copy(from, sql(source, MovingSql.STAYED_OUT, since), to, MovingSql.STAYED_IN);
            ShardServer.execute(to, sql(target, MovingSql.GOING_REMOVED, since));
            takeAway(to, tables);
            String arrived = checksum(to, sql(target, MovingSql.ARRIVED, since));
            if (!stayed.equals(arrived)) {
                throw differ("run", arrived, stayed);
            }
        }
        return going;
    }

    private Going take(Connection from, Connection to, List<Table> tables, String choice, boolean first)
            throws SQLException {
        ShardServer.execute(from, choice);
        ShardServer.execute(to, MovingSql.NO_GOING);
        Pipe.copy(from, MovingSql.GOING_OUT, to, MovingSql.GOING_IN);
        int replaced = ShardServer.execute(to, sql(target, MovingSql.GOING_REPLACED, ALL));
        if (!first || replaced > 0) {
            takeAway(to, tables);
        }
        try (Statement statement = from.createStatement();
                ResultSet row = statement.executeQuery(MovingSql.GOING)) {
            row.next();
            return new Going(row.getLong("runs"), row.getLong("last"));
        }
    }

    private void takeAway(Connection to, List<Table> tables) throws SQLException {
        for (Table table : tables) {
            if (table.isLasting()) {
                ShardServer.execute(to, table.sqlOfGoing(target.schema(), MovingSql.DELETE, partition));
            }
        }
    }

    /** Copies the rows of a table: of the chosen runs, or of the whole partition if they do not go before it is closed. */
    long copy(Table table, Connection from, Connection to) throws SQLException {
        if (table.isShared()) {
            ShardServer.execute(to, there(table, MovingSql.ARRIVING));
        }
        long rows = Pipe.copy(
                from,
                text(table, source, MovingSql.COPY_OUT),
                to,
                there(table, table.isShared() ? MovingSql.COPY_IN_ARRIVING : MovingSql.COPY_IN));
        String expected = checksum(from, text(table, source, MovingSql.CHECKSUM));
        String found = checksum(to, there(table, table.isShared() ? MovingSql.CHECKSUM_ARRIVING : MovingSql.CHECKSUM));
        if (!expected.equals(found)) {
            throw differ(table.name(), found, expected);
        }
        if (table.isShared()) {
            ShardServer.execute(to, there(table, MovingSql.TAKE_ARRIVING));
        }
        return rows;
    }

    private String there(Table table, String text) {
        return text(table, target, text);
    }

    private String text(Table table, ShardServer server, String text) {
        return table.isLasting()
                ? table.sqlOfGoing(server.schema(), text, partition)
                : table.sql(server.schema(), text, partition);
    }

    private StoreException differ(String table, String found, String expected) {
        return new StoreException(
                StoreException.Kind.UNUSABLE,
                "Partition %d was not moved: the rows of table %s on shard '%s' (%s) differ from those on shard '%s' (%s)."
                        .formatted(partition, table, target.name(), found, source.name(), expected),
                null);
    }

    private static String checksum(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return "%d rows, checksum %s".formatted(row.getLong("rows"), row.getString("sum"));
        }
    }
}
