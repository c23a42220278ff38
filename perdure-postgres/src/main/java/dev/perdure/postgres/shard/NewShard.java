package dev.perdure.postgres.shard;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.spi.Hints;
import dev.perdure.spi.shard.ShardMap;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;

/** What a shard is told that is not about one partition. */
public final class NewShard {
    private static final int HIGHEST_NUMBER = 255;
    private static final String HAS_RUNS = "SELECT EXISTS (SELECT FROM ${schema}.run)";

    /** What operators and code have declared for all shards: tables with the columns that are not about runs. */
    private static final Map<String, String> DECLARED = Map.of(
            "drain", "since, version, definition",
            "limiter", "name, paused, declared, changed",
            "queue", "name, paused, declared, changed, revision",
            "reaction", "late, name, states, definitions, starts, queue, paused");

    private static final String COPY_OUT = "COPY (SELECT ${columns} FROM ${schema}.${table}) TO STDOUT";
    private static final String COPY_IN = "COPY ${schema}.${table} (${columns}) FROM STDIN";
    private static final String RETENTION = "SELECT changed::text AS changed FROM ${schema}.retention";
    private static final String RETAIN = "UPDATE ${schema}.retention SET changed = ?::jsonb";

    private NewShard() {}

    /**
     * Makes a database a shard without partitions, with the limits, pauses and drains of another one.
     *
     * @param other a shard
     */
    public static void add(ShardServer server, ShardServer other, int number, ShardMap map) {
        server.inTransaction(connection -> other.onSnapshot(from -> {
            try (Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery(server.schema().sql(HAS_RUNS))) {
                row.next();
                if (row.getBoolean(1)) {
                    throw new InvalidRequestException(
                            "The database of shard '%s' has runs of its own. Give it an empty database."
                                    .formatted(server.name()));
                }
            }
            try (PreparedStatement statement =
                    connection.prepareStatement(server.schema().sql(MovingSql.ADD))) {
                new Parameters(statement)
                        .text(server.name())
                        .integer(map.version())
                        .texts(map.owners())
                        .integer(number);
                statement.executeUpdate();
            }
            for (Map.Entry<String, String> declared : DECLARED.entrySet()) {
                Pipe.copy(
                        from,
                        sql(other, COPY_OUT, declared.getKey(), declared.getValue()),
                        connection,
                        sql(server, COPY_IN, declared.getKey(), declared.getValue()));
            }
            try (Statement asked = from.createStatement();
                    ResultSet row = asked.executeQuery(other.schema().sql(RETENTION));
                    PreparedStatement told =
                            connection.prepareStatement(server.schema().sql(RETAIN))) {
                row.next();
                new Parameters(told).text(row.getString("changed"));
                told.executeUpdate();
            }
            return true;
        }));
    }

    /** Takes the next number, which no shard has had, from the first shard. */
    public static int nextNumber(ShardServer first, int known) {
        int number = raised(first, known, 1);
        if (number > HIGHEST_NUMBER) {
            throw new InvalidRequestException(
                    "Shards have had all numbers up to %s, so no other one can be added.".formatted(HIGHEST_NUMBER));
        }
        return number;
    }

    /** Lets the first shard remember a number that a shard has, so that no other one gets it when that shard is gone. */
    public static void rememberNumber(ShardServer first, int known) {
        raised(first, known, 0);
    }

    private static int raised(ShardServer first, int known, int by) {
        return first.inTransaction(connection -> {
            try (PreparedStatement statement =
                    connection.prepareStatement(first.schema().sql(MovingSql.REMEMBER_NUMBER))) {
                new Parameters(statement).integer(known).integer(by);
                try (ResultSet row = statement.executeQuery()) {
                    row.next();
                    return row.getInt("highest_number");
                }
            }
        });
    }

    private static String sql(ShardServer server, String text, String table, String columns) {
        return server.schema().sql(text.replace("${table}", table).replace("${columns}", columns));
    }

    /** Stores a map, unless the shard has a newer one. */
    public static void tell(ShardServer server, ShardMap map) {
        server.inTransaction(connection -> {
            tell(server, connection, map);
            return true;
        });
    }

    static void tell(ShardServer server, Connection connection, ShardMap map) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement(server.schema().sql(MovingSql.NEWER_MAP))) {
            new Parameters(statement).integer(map.version()).texts(map.owners()).integer(map.version());
            if (statement.executeUpdate() == 0) {
                return;
            }
        }
        server.tell(connection, new Hints.PartitionsMoved());
    }

    /** The longest lease of a worker or client of this shard that lives. */
    public static Duration longestLease(ShardServer server) {
        return server.inTransaction(connection -> {
            try (Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery(server.schema().sql(MovingSql.LONGEST_LEASE))) {
                row.next();
                return Duration.ofMillis(row.getLong("millis"));
            }
        });
    }
}
