package dev.perdure.postgres.shard;

import dev.perdure.postgres.shard.RunTables.Table;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.stream.Stream;

/**
 * What changes in a partition while it is open and copied to another shard.
 *
 * <p>How it works. Triggers on the tables of the source note each run and virtual object of the partition whose rows change;
 * no other partition pays for it. They are made under a lock that waits for all transactions that write, so a copy that
 * begins later has everything that they do not note. At first everything is noted. A batch that is copied takes away the notes that its
 * own snapshot has, so what changes meanwhile stays noted. What is noted when the partition is closed is what the target
 * does not have as it is. A move that is given up removes triggers and notes.
 *
 * @param partition the partition
 * @param source where it is
 */
record PartitionChanges(int partition, ShardServer source) {
    private String sql(String text) {
        return source.schema()
                .sql(text.replace("${partition}", Integer.toString(partition))
                        .replace("${completed}", Integer.toString(RowCopy.COMPLETED)));
    }

    /** Begins to note what changes, and notes everything that is there. */
    void watch() {
        List<Table> tables = source.inTransaction(connection -> RunTables.of(connection, source.schema())).stream()
                .filter(Table::goesBefore)
                .toList();
        forget();
        source.alone(tables, connection -> {
            unwatch(connection, tables);
            ShardServer.executeAll(
                    connection,
                    tables.stream()
                            .flatMap(table ->
                                    table.watches().stream().map(watch -> table.sql(source.schema(), watch, partition)))
                            .toList());
            return true;
        });
        source.inTransaction(this::noteAll);
        source.patiently(connection -> {
            ShardServer.execute(connection, ShardServer.BEFORE_VACUUMS);
            return ShardServer.execute(connection, sql(MovingSql.ANALYZE_CHANGES));
        });
    }

    /** Notes everything that is there: the target has nothing. */
    int noteAll(Connection connection) throws SQLException {
        return ShardServer.execute(connection, sql(MovingSql.NOTE_ALL));
    }

    /** Notes no more. The tables have to be locked. */
    void unwatch(Connection connection, List<Table> tables) throws SQLException {
        ShardServer.executeAll(
                connection,
                tables.stream()
                        .filter(Table::goesBefore)
                        .flatMap(table -> Stream.of(MovingSql.NO_WATCH, MovingSql.NO_WATCH_DELETES)
                                .map(drop -> table.sql(source.schema(), drop, partition)))
                        .toList());
    }

    /** Forgets what was noted. Not in a transaction that locks tables: there may be much. */
    void forget() {
        source.inTransaction(connection -> ShardServer.execute(connection, sql(MovingSql.FORGET_CHANGES)));
    }

    /** How many notes there are about virtual objects. */
    long objects() {
        return source.inTransaction(connection -> {
            try (Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery(sql(MovingSql.NOTED_OBJECTS))) {
                row.next();
                return row.getLong(1);
            }
        });
    }

    /** Writes the links of children that have ended, of the partition and of its runs, as links between shards. */
    void linkEnded() {
        for (String link : List.of(MovingSql.LINK_ENDED_GOING, MovingSql.LINK_ENDED_STAYING)) {
            int linked;
            do {
                linked = source.patiently(connection -> ShardServer.execute(connection, sql(link)));
            } while (linked > 0);
        }
    }

    /** Notes runs that have ended before their children: the links of these are written when the partition is closed. */
    void noteParents() {
        source.inTransaction(connection -> ShardServer.execute(connection, sql(MovingSql.NOTE_PARENTS)));
    }

    /** Writes all other links, when the partition is closed. */
    void linkOthers(Connection connection) throws SQLException {
        ShardServer.executeAll(connection, List.of(sql(MovingSql.LINK_GOING), sql(MovingSql.LINK_STAYING)));
    }
}
