package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.error.StoreException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;
import org.slf4j.LoggerFactory;

/** Migrations of a schema that others use: readers that stay for long, workers, other processes that migrate. */
final class MigrationsBesideOthersIT {
    private static final Logger LOG = (Logger) LoggerFactory.getLogger("dev.perdure.store.migration");
    /** A column of the table that everybody uses. */
    private static final String FIRST_MISSING = "V130__headers.sql";

    private final String schema = TestServer.newSchema();
    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final CompletableFuture<String> firstLine = new CompletableFuture<>();
    private final AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent line) {
            if (line.getFormattedMessage().contains("'" + schema + "'")) {
                lines.add(line.getFormattedMessage());
                firstLine.complete(line.getFormattedMessage());
            }
        }
    };

    private final HikariDataSource pool = TestServer.pool(1);

    @BeforeEach
    void begin() {
        appender.start();
        LOG.setLevel(Level.INFO);
        LOG.addAppender(appender);
        makeOlderSchema();
    }

    @AfterEach
    void end() {
        LOG.detachAppender(appender);
        LOG.setLevel(null);
        pool.close();
    }

    private void makeOlderSchema() {
        String script = PostgresStore.migrations(schema);
        int cut = script.indexOf("INSERT INTO %s.migration (version, name, checksum) VALUES (130, ".formatted(schema));
        int last = script.lastIndexOf("INSERT INTO %s.migration (".formatted(schema), cut - 1);
        TestServer.execute(script.substring(0, script.indexOf(";\n", last) + 1));
    }

    private FutureTask<Void> opening(DataSource source) {
        FutureTask<Void> opening = new FutureTask<>(() -> {
            PostgresStore.on(source).schema(schema).notifications(false).open().close();
            return null;
        });
        Thread.ofVirtual().start(opening);
        return opening;
    }

    private static PGSimpleDataSource named(String application) {
        PGSimpleDataSource source = TestServer.plain();
        source.setApplicationName(application);
        return source;
    }

    private static void awaitNone(String condition) {
        long limit = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (!TestServer.query("SELECT count(*) FROM pg_stat_activity WHERE " + condition)
                .equals("0")) {
            assertThat(System.nanoTime()).as(condition + " should end").isLessThan(limit);
        }
    }

    private static void run(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private void slowDown(double seconds) {
        TestServer.execute("""
                CREATE FUNCTION %1$s.slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(%2$s); RETURN NEW; END';
                CREATE TRIGGER slow BEFORE INSERT ON %1$s.migration FOR EACH ROW WHEN (NEW.version = 130) EXECUTE FUNCTION %1$s.slow()
                """.formatted(schema, seconds));
    }

    private void assertUpToDate() {
        PostgresStore.on(TestServer.plain())
                .schema(schema)
                .notifications(false)
                .migrate(false)
                .open()
                .close();
    }

    @Test
    void a_migration_behind_a_reader_says_for_whom_it_waits_and_stops_nobody() throws Exception {
        FutureTask<Void> opening;
        try (Connection backup = named("nightly backup").getConnection();
                Connection worker = TestServer.plain().getConnection()) {
            backup.setAutoCommit(false);
            run(backup, "LOCK TABLE %s.run IN ACCESS SHARE MODE".formatted(schema));
            opening = opening(named("opens " + schema));

            assertThat(firstLine.get(30, TimeUnit.SECONDS))
                    .contains("Migration " + FIRST_MISSING + " of the schema '" + schema + "'")
                    .contains("waits for pid ")
                    .contains("application 'nightly backup', user ")
                    .contains(", since 20")
                    .contains("idle in transaction): LOCK TABLE");
            run(worker, "SET statement_timeout = '5s'");
            for (int i = 0; i < 3; i++) {
                run(worker, "SELECT FROM %s.run".formatted(schema));
            }
            assertThat(opening.isDone()).isFalse();
        }
        opening.get(30, TimeUnit.SECONDS);
        assertUpToDate();
    }

    @Test
    void the_table_in_another_database_is_created_behind_a_step_that_works_and_stops_no_other() throws Exception {
        OtherDatabase other = OtherDatabase.on(pool, schema);
        other.migrate();
        String insert =
                "INSERT INTO %s.completion (seed, position, status, run, name, payload) VALUES (%d, 1, 0, 'r', 's', '')";
        FutureTask<Void> migrating = new FutureTask<>(other::migrate, null);
        try (Connection step = named("a long step").getConnection();
                Connection another = TestServer.plain().getConnection()) {
            step.setAutoCommit(false);
            run(step, insert.formatted(schema, 1));
            Thread.ofVirtual().start(migrating);

            assertThat(firstLine.get(30, TimeUnit.SECONDS)).contains("waits for");
            run(another, "SET statement_timeout = '5s'");
            run(another, insert.formatted(schema, 2));
            assertThat(migrating.isDone()).isFalse();
        }
        migrating.get(30, TimeUnit.SECONDS);
    }

    @Test
    void a_statement_may_take_longer_than_any_limit_of_the_role_or_the_connection() throws Exception {
        slowDown(2);
        String owner = "owner_" + schema;
        TestServer.execute("CREATE ROLE %s SUPERUSER LOGIN PASSWORD 'secret'".formatted(owner));
        TestServer.execute("ALTER ROLE %s SET statement_timeout = '500ms'".formatted(owner));
        PGSimpleDataSource source = TestServer.plain(owner, "secret");
        source.setSocketTimeout(1);

        opening(source).get(30, TimeUnit.SECONDS);
        assertUpToDate();
    }

    @Test
    @Tag("thorough")
    void a_statement_may_take_longer_than_any_other_call_and_the_log_says_how_far_it_is() throws Exception {
        slowDown(11);
        FutureTask<Void> opening = opening(TestServer.pool(4));

        assertThat(firstLine.get(30, TimeUnit.SECONDS))
                .contains("Migration " + FIRST_MISSING + " of the schema '" + schema + "' (")
                .contains(") has run for ")
                .contains("the server is at: INSERT INTO");
        opening.get(30, TimeUnit.SECONDS);
        assertUpToDate();
    }

    @Test
    void a_second_process_waits_for_the_first_and_goes_on() throws Exception {
        slowDown(2);
        FutureTask<Void> first = opening(named("first " + schema));
        TestServer.awaitSleeping("first " + schema);
        FutureTask<Void> second = opening(named("second " + schema));

        assertThat(firstLine.get(30, TimeUnit.SECONDS))
                .startsWith("The migration of the schema '" + schema + "' waits for pid ")
                .contains("application 'first " + schema + "'");
        first.get(30, TimeUnit.SECONDS);
        second.get(30, TimeUnit.SECONDS);
        assertUpToDate();
    }

    @Test
    void an_interrupt_ends_the_migration_on_the_server_and_it_can_be_tried_again() throws Exception {
        slowDown(600);
        String name = "interrupted " + schema;
        AtomicReference<Thread> thread = new AtomicReference<>();
        FutureTask<Void> opening = new FutureTask<>(() -> {
            thread.set(Thread.currentThread());
            PostgresStore.on(named(name)).schema(schema).notifications(false).open();
            return null;
        });
        Thread.ofPlatform().start(opening);
        TestServer.awaitSleeping(name);
        thread.get().interrupt();

        assertThatThrownBy(() -> opening.get(30, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .cause()
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("Migration " + FIRST_MISSING + " of the schema '" + schema + "'")
                .hasMessageContaining("was interrupted, and changed nothing. Open the store again to go on.");
        awaitNone("application_name = '%s'".formatted(name));
        TestServer.execute("DROP TRIGGER slow ON %s.migration".formatted(schema));
        opening(TestServer.plain()).get(30, TimeUnit.SECONDS);
        assertUpToDate();
    }

    @Test
    void the_server_ends_the_migration_of_a_process_that_is_gone() throws Exception {
        slowDown(600);
        List<Connection> taken = new CopyOnWriteArrayList<>();
        PGSimpleDataSource source = new PGSimpleDataSource() {
            @Override
            public Connection getConnection() throws SQLException {
                Connection connection = super.getConnection();
                taken.add(connection);
                return connection;
            }
        };
        source.setUrl(TestServer.plain().getUrl());
        source.setUser(TestServer.plain().getUser());
        source.setPassword(TestServer.plain().getPassword());
        String name = "killed " + schema;
        source.setApplicationName(name);
        FutureTask<Void> opening = opening(source);
        TestServer.awaitSleeping(name);
        for (Connection connection : taken) {
            connection.abort(Runnable::run);
        }

        assertThatThrownBy(() -> opening.get(30, TimeUnit.SECONDS)).hasMessageContaining("out of reach");
        awaitNone("wait_event = 'PgSleep'");
    }
}
