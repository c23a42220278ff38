package dev.perdure.postgres.shard;

import dev.perdure.error.StoreException;
import dev.perdure.postgres.hint.Notice;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Database.LockedException;
import dev.perdure.postgres.jdbc.Parameters;
import dev.perdure.postgres.jdbc.Query;
import dev.perdure.postgres.jdbc.Results;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.setup.Preflight;
import dev.perdure.postgres.shard.RunTables.Table;
import dev.perdure.spi.Hints;
import dev.perdure.spi.shard.ShardMap;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import javax.sql.DataSource;

/** A database from which or to which partitions are moved. */
public final class ShardServer implements AutoCloseable {
    /** Statements about a whole partition may take long before they answer. */
    private static final Duration SILENCE = Duration.ofHours(12);

    private static final int CONNECTIONS = 3;
    private static final long MOST_WAITING = TimeUnit.SECONDS.toNanos(90);
    private static final long SHORTEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(50);
    private static final long LONGEST_PAUSE = TimeUnit.SECONDS.toNanos(2);
    /** Between two tries while runs stand still. */
    private static final long LONGEST_PAUSE_OF_RUNS = TimeUnit.MILLISECONDS.toNanos(200);

    /** So long that a lock which waits for an automatic vacuum lets it be cancelled, which happens after a second. */
    static final String BEFORE_VACUUMS = "SET LOCAL lock_timeout = '5s'";

    /**
     * Ends the transaction if its process stands still, or is cut off, between two of its requests. Otherwise all work on the
     * shard would stand still until the server has found that the connection is dead.
     */
    private static final String NOT_IDLE = "SET LOCAL idle_in_transaction_session_timeout = '5s'";

    /** The time is for all tables together: those that are locked already let batches wait. */
    private static final String LOCK = """
            DO $$
            DECLARE
                until timestamptz := clock_timestamp() + interval '300 milliseconds';
                tables text[] := '{${tables}}';
                name text;
            BEGIN
                FOREACH name IN ARRAY tables LOOP
                    PERFORM set_config('lock_timeout', GREATEST(1, 1000 * EXTRACT(epoch FROM until - clock_timestamp()))::int || 'ms', true);
                    EXECUTE format('LOCK TABLE ${schema}.%I IN ACCESS EXCLUSIVE MODE', name);
                END LOOP;
                PERFORM set_config('lock_timeout', '300ms', true);
            END
            $$
            """;

    /** What a shard does with a partition in which it takes no changes. */
    public enum Phase {
        /** It is about to go. The map still says that it is here. */
        LEAVING,
        /** It is about to come, or has come and is not open yet. */
        ARRIVING,
        /** The map says that it is elsewhere. Its rows are still here. */
        LEFT,
        /** Its rows are removed, or it was about to come and has stayed where it is. */
        GONE
    }

    /**
     * A partition in which a shard takes no changes.
     *
     * @param phase what the shard does with it
     * @param other to which shard it goes or went, or from which it comes
     * @param age for how long it has been in this phase
     */
    public record Closed(Phase phase, String other, Duration age) {}

    /**
     * What a shard has stored about itself.
     *
     * @param name its name
     * @param number its number, which no other shard has
     * @param map its map
     * @param workers how many live workers it has
     * @param closed the partitions in which it takes no changes
     */
    public record State(String name, int number, ShardMap map, int workers, Map<Integer, Closed> closed) {}

    private final String name;
    private final DataSource source;
    private final Database database;
    private final Schema schema;
    private final Query query;

    public ShardServer(String name, DataSource source, Schema schema) {
        this.name = name;
        this.source = source;
        this.schema = schema;
        this.database = new Database(Preflight.connect(source, CONNECTIONS), () -> null, SILENCE);
        this.query = new Query(database);
    }

    public String name() {
        return name;
    }

    public DataSource source() {
        return source;
    }

    Schema schema() {
        return schema;
    }

    /** The exception for a lock that could not be asked for. */
    StoreException unavailable(SQLException trouble) {
        return new StoreException(
                StoreException.Kind.UNAVAILABLE,
                "Shard '%s' cannot be locked: %s".formatted(name, trouble.getMessage()),
                trouble);
    }

    /** What this shard has stored; empty if it is no shard yet. */
    public Optional<State> state() {
        Map<Integer, Closed> closed = new TreeMap<>();
        query.all(
                schema.sql(MovingSql.CLOSED),
                parameters -> {},
                row -> closed.put(
                        row.getInt("number"),
                        new Closed(
                                Phase.valueOf(row.getString("phase")),
                                row.getString("other"),
                                Duration.ofMillis(row.getLong("millis")))));
        return query
                .all(
                        schema.sql(MovingSql.STATE),
                        parameters -> {},
                        row -> new State(
                                row.getString("name"),
                                row.getInt("number"),
                                new ShardMap(row.getInt("version"), Results.texts(row, "owners")),
                                row.getInt("workers"),
                                closed))
                .stream()
                .findFirst();
    }

    /** Work in a transaction with the settings of moves. */
    <T> T inTransaction(Database.Work<T> work) {
        return database.inTransaction(connection -> {
            execute(connection, MovingSql.SETTINGS);
            return work.on(connection);
        });
    }

    /** The same on one snapshot. */
    <T> T onSnapshot(Database.Work<T> work) {
        return database.inTransaction(connection -> {
            execute(connection, MovingSql.SNAPSHOT);
            execute(connection, MovingSql.SETTINGS);
            return work.on(connection);
        });
    }

    /** The answer to a question of one row and one column. */
    boolean has(String question) {
        return query.all(question, parameters -> {}, row -> row.getBoolean(1)).getFirst();
    }

    /** Runs statements outside of a transaction, one by one. */
    void each(List<String> statements) {
        for (String statement : statements) {
            database.call(connection -> execute(connection, statement));
        }
    }

    /**
     * Work in a transaction during which no other one uses the tables. Waits only shortly for them, again and again and
     * ever more rarely, so that batches do not have to wait behind it for a transaction that takes long.
     */
    <T> T alone(List<Table> tables, Database.Work<T> work) {
        return alone(tables, LONGEST_PAUSE, work);
    }

    /** The same while runs stand still: it tries again soon. */
    <T> T aloneSoon(List<Table> tables, Database.Work<T> work) {
        return alone(tables, LONGEST_PAUSE_OF_RUNS, work);
    }

    private <T> T alone(List<Table> tables, long longestPause, Database.Work<T> work) {
        List<String> names = tables.stream().map(Table::name).toList();
        String noVacuums = noVacuums(tables);
        String lock = schema.sql(LOCK.replace("${tables}", String.join(",", names)));
        return patiently(
                connection -> {
                    execute(connection, NOT_IDLE);
                    execute(connection, BEFORE_VACUUMS);
                    execute(connection, noVacuums);
                    execute(connection, lock);
                    return work.on(connection);
                },
                longestPause);
    }

    /** Locks these tables against vacuums. Others read and write meanwhile. */
    String noVacuums(List<Table> tables) {
        List<String> names = tables.stream().map(Table::name).toList();
        return schema.sql(
                "LOCK TABLE ${schema}." + String.join(", ${schema}.", names) + " IN SHARE UPDATE EXCLUSIVE MODE");
    }

    /** Work in a transaction that is tried again, ever more rarely, if it meets locks of others. */
    <T> T patiently(Database.Work<T> work) {
        return patiently(work, LONGEST_PAUSE);
    }

    /** The same while runs stand still: it tries again soon. */
    <T> T patientlySoon(Database.Work<T> work) {
        return patiently(work, LONGEST_PAUSE_OF_RUNS);
    }

    private <T> T patiently(Database.Work<T> work, long longestPause) {
        long pause = SHORTEST_PAUSE;
        long until = System.nanoTime() + MOST_WAITING;
        for (int tries = 1; ; tries++) {
            try {
                return inTransaction(work);
            } catch (LockedException busy) {
                if (System.nanoTime() - until >= 0) {
                    throw new StoreException(
                            StoreException.Kind.UNAVAILABLE,
                            "The tables of shard '%s' were locked by other transactions %s times. Look for long transactions in pg_stat_activity and run the command again."
                                    .formatted(name, tries),
                            busy);
                }
                LockSupport.parkNanos(pause);
                pause = Math.min(longestPause, 2 * pause);
            }
        }
    }

    /**
     * Lets the tables refuse rows of the partitions that are closed, and of no others; those that are about to come, until they
     * have arrived. The tables have to be locked.
     */
    void guard(Connection connection, List<Table> tables) throws SQLException {
        List<Integer> closed = new ArrayList<>();
        List<Integer> arriving = new ArrayList<>();
        StringBuilder unlessArrived = new StringBuilder();
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(schema.sql(MovingSql.CLOSED))) {
            while (rows.next()) {
                int partition = rows.getInt("number");
                closed.add(partition);
                if (Phase.valueOf(rows.getString("phase")) == Phase.ARRIVING) {
                    arriving.add(partition);
                    unlessArrived.append(MovingSql.UNLESS_ARRIVED
                            .replace("${partition}", Integer.toString(partition))
                            .replace("${since}", rows.getString("since")));
                }
            }
        }
        String text = closed.isEmpty()
                ? MovingSql.UNGUARD
                : MovingSql.GUARD.replace("${closed}", array(closed)).replace("${unless_arrived}", unlessArrived);
        List<String> statements = new ArrayList<>();
        tables.stream()
                .filter(Table::isGuarded)
                .map(table -> table.sql(schema, text, 0))
                .forEach(statements::add);
        statements.add(schema.sql(MovingSql.FORGET_ARRIVED.replace("${arriving}", array(arriving))));
        executeAll(connection, statements);
    }

    private static String array(List<Integer> partitions) {
        return "'{%s}'::smallint[]"
                .formatted(partitions.stream().map(String::valueOf).collect(Collectors.joining(",")));
    }

    /** Gives a hint to the processes that listen, when the transaction commits. */
    void tell(Connection connection, Hints.Hint hint) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(MovingSql.TELL)) {
            String notice = Notice.written("moves", List.of(Notice.line(hint))).getFirst();
            new Parameters(statement).text(schema.channel()).text(notice);
            statement.execute();
        }
    }

    /** Statements whose answers do not matter, in one request: each request of its own may have to wait for a processor. */
    static void executeAll(Connection connection, List<String> statements) throws SQLException {
        if (!statements.isEmpty()) {
            execute(connection, String.join(";\n", statements));
        }
    }

    static int execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
            return Math.max(0, statement.getUpdateCount());
        }
    }

    @Override
    public void close() {
        database.close();
    }
}
