package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.embedded.SharedPostgres;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/** One real PostgreSQL for all tests of the build, with fsync on, on a port and in a folder of its own. */
final class TestServer {
    private static final List<String> FLUSH_STATISTICS = List.of("SELECT pg_stat_force_next_flush()");
    /** PostgreSQL 14 cannot be told to; a connection reports at the end of a statement, every half second at most. */
    private static final List<String> AWAIT_STATISTICS = List.of("SELECT pg_sleep(0.6)", "SELECT pg_sleep(0.2)");

    /** Connections that no test uses at the moment. */
    private static final ConcurrentLinkedDeque<Connection> KEPT = new ConcurrentLinkedDeque<>();

    private static final AtomicInteger SCHEMAS = new AtomicInteger();
    private static final Map<Class<?>, String> OF_CLASS = new ConcurrentHashMap<>();

    private TestServer() {}

    /** Where it listens; {@code -Dperdure.test.port=…} takes a server that runs already, to try another version. */
    static int port() {
        Integer running = Integer.getInteger("perdure.test.port");
        return running != null ? running : SharedPostgres.server().port();
    }

    static PGSimpleDataSource plain() {
        boolean running = Integer.getInteger("perdure.test.port") != null;
        return running
                ? plain("postgres", "postgres")
                : plain(SharedPostgres.server().user(), SharedPostgres.server().password());
    }

    static PGSimpleDataSource plain(String user, String password) {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setServerNames(new String[] {"127.0.0.1"});
        source.setPortNumbers(new int[] {port()});
        source.setDatabaseName("postgres");
        source.setUser(user);
        source.setPassword(password);
        return source;
    }

    static HikariDataSource pool(int size) {
        return pool(plain(), size);
    }

    static HikariDataSource pool(DataSource source, int size) {
        HikariConfig config = new HikariConfig();
        config.setDataSource(source);
        config.setMaximumPoolSize(size);
        config.setMinimumIdle(0);
        config.setConnectionTimeout(2_000);
        config.setInitializationFailTimeout(60_000); // on a busy machine, the first connection may take longer
        return new HikariDataSource(config);
    }

    /** A pool that does not try to connect before it is asked. */
    static HikariDataSource lazyPool(DataSource source) {
        HikariConfig config = new HikariConfig();
        config.setDataSource(source);
        config.setMaximumPoolSize(3);
        config.setMinimumIdle(0);
        config.setConnectionTimeout(1_000);
        config.setInitializationFailTimeout(-1);
        return new HikariDataSource(config);
    }

    static String newSchema() {
        return "t" + SCHEMAS.incrementAndGet();
    }

    /**
     * The schema of a test class: new for its first test, and without rows for the others. Half of the time of a short
     * test was the migration of a schema of its own.
     */
    static String schemaOf(Class<?> test) {
        String used = OF_CLASS.get(test);
        if (used == null) {
            String schema = newSchema();
            OF_CLASS.put(test, schema);
            return schema;
        }
        empty(used);
        return used;
    }

    /** Removes all rows: quicker than another schema, whose statements would have to be planned again. */
    static void empty(String schema) {
        execute(emptying(schema));
    }

    /** The statement that does it, on any server. */
    static String emptying(String schema) {
        return """
                DO $$ BEGIN
                    EXECUTE (SELECT string_agg(format('DELETE FROM %%I.%%I', schemaname, tablename), ';') FROM pg_tables
                             WHERE schemaname = '%1$s' AND tablename NOT IN ('migration', 'inbox_lock', 'secret', 'retention'));
                    UPDATE %1$s.retention SET next_at = DEFAULT, began_at = NULL, reached_at = DEFAULT, reached_key = 0,
                        looked = 0, removed = 0, declared = NULL, changed = NULL;
                END $$""".formatted(schema);
    }

    /** For tests that count reads of runs: a vacuum sums up new pages for BRIN indexes by scans that count, too. */
    static void withoutAutovacuum(String schema) {
        execute("ALTER TABLE %s.run SET (autovacuum_enabled = off)".formatted(schema));
    }

    /** Makes the server count what this connection has done. */
    static void reportStatistics(Connection connection) throws SQLException {
        boolean canFlush = connection.getMetaData().getDatabaseMajorVersion() >= 15;
        try (Statement statement = connection.createStatement()) {
            for (String report : canFlush ? FLUSH_STATISTICS : AWAIT_STATISTICS) {
                statement.execute(report);
            }
        }
    }

    static void execute(String sql) {
        onKept(sql, statement -> {
            statement.execute(sql);
            return "";
        });
    }

    static String query(String sql) {
        return onKept(sql, statement -> {
            StringBuilder lines = new StringBuilder();
            try (ResultSet rows = statement.executeQuery(sql)) {
                while (rows.next()) {
                    lines.append(rows.getString(1)).append('\n');
                }
            }
            return lines.toString().strip();
        });
    }

    private interface Use {
        String with(Statement statement) throws SQLException;
    }

    /** Tests ask the server so often that a connection for each question was more than a quarter of its work. */
    private static String onKept(String sql, Use use) {
        try {
            Connection kept = KEPT.poll();
            Connection connection = kept != null && kept.isValid(5) ? kept : plain().getConnection();
            try (Statement statement = connection.createStatement()) {
                return use.with(statement);
            } finally {
                KEPT.push(connection);
            }
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    /** Waits until a backend waits for a lock. */
    static void awaitBlocked() {
        awaitBlocked(1, () -> false);
    }

    /** Waits until so many backends wait for a lock, or something else has happened. */
    static void awaitBlocked(int backends, BooleanSupplier otherwise) {
        String waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND state = 'active'";
        long limit = System.nanoTime() + TimeUnit.SECONDS.toNanos(5);
        while (Integer.parseInt(query(waiting)) < backends && !otherwise.getAsBoolean()) {
            assertThat(System.nanoTime()).as("a session should wait for a lock").isLessThan(limit);
        }
    }

    /** Waits until a backend of this application sleeps in {@code pg_sleep}. */
    static void awaitSleeping(String application) {
        String sleeping =
                "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND application_name = '%s'"
                        .formatted(application);
        long limit = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (query(sleeping).equals("0")) {
            assertThat(System.nanoTime()).as("%s should sleep", application).isLessThan(limit);
        }
    }
}
