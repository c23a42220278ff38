package dev.perdure.postgres;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.RetryPolicy;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.error.RunFailedException;
import dev.perdure.transaction.TransactionBody;
import dev.perdure.transaction.TransactionOptions;
import dev.perdure.transaction.TransactionSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** What is the server's trouble in a transaction step, and what is its body's. */
final class TransactionTroubleIT {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration LEASE = Duration.ofSeconds(2);
    private static final TransactionOptions ONCE = TransactionOptions.defaults().retry(RetryPolicy.none());

    /** Raises the SQLSTATE that stands in a table, as long as one does. */
    private static final String SPELL = """
        CREATE TABLE IF NOT EXISTS ${schema}.spell (state text);
        CREATE OR REPLACE FUNCTION ${schema}.trouble() RETURNS trigger LANGUAGE plpgsql AS $$
        DECLARE code text;
        BEGIN
            SELECT state INTO code FROM ${schema}.spell;
            IF FOUND THEN RAISE EXCEPTION 'trouble %', code USING ERRCODE = code; END IF;
            RETURN NEW;
        END $$;
        CREATE TABLE IF NOT EXISTS ${schema}.account (balance int);
        CREATE OR REPLACE TRIGGER trouble BEFORE INSERT ON ${schema}.account FOR EACH ROW EXECUTE FUNCTION ${schema}.trouble();
        CREATE OR REPLACE TRIGGER trouble BEFORE INSERT ON ${schema}.journal FOR EACH ROW EXECUTE FUNCTION ${schema}.trouble();
        CREATE OR REPLACE TRIGGER trouble BEFORE INSERT ON ${schema}.completion FOR EACH ROW EXECUTE FUNCTION ${schema}.trouble();
        """;

    /** Where transaction steps run. */
    enum Where {
        IN_THE_SAME_DATABASE,
        IN_ANOTHER_DATABASE
    }

    private final String schema = TestServer.schemaOf(TransactionTroubleIT.class);
    private final AtomicInteger taken = new AtomicInteger();
    private final List<Integer> attempts = new CopyOnWriteArrayList<>();
    private HikariDataSource pool;
    private HikariDataSource application;
    private PostgresStore store;

    @BeforeEach
    void open() {
        pool = TestServer.pool(5);
        store = PostgresStore.on(pool).schema(schema).notifications(false).open();
        OtherDatabase.on(TestServer.plain(), schema).migrate();
        TestServer.execute(SPELL.replace("${schema}", schema));
        HikariConfig config = new HikariConfig();
        config.setDataSource(TestServer.plain());
        config.setMaximumPoolSize(1);
        config.setMinimumIdle(1);
        application = new HikariDataSource(config) {
            @Override
            public Connection getConnection() throws SQLException {
                taken.incrementAndGet();
                return super.getConnection();
            }
        };
    }

    @AfterEach
    void close() {
        store.close();
        application.close();
        pool.close();
    }

    private TransactionSource<Connection> source(Where where) {
        return switch (where) {
            case IN_THE_SAME_DATABASE -> PostgresTransactions.on(store, application);
            case IN_ANOTHER_DATABASE -> OtherDatabase.on(application, schema);
        };
    }

    private Definition<String, String> flow(Where where, TransactionBody<Connection, String> body) {
        TransactionSource<Connection> source = source(where);
        return Definition.of(
                "flow",
                String.class,
                String.class,
                (ctx, in) -> ctx.transaction(
                        "take",
                        source,
                        connection -> {
                            attempts.add(ctx.attempt().number());
                            return body.call(connection);
                        },
                        ONCE));
    }

    private String run(Where where, TransactionBody<Connection, String> body) {
        Definition<String, String> flow = flow(where, body);
        try (Perdure perdure = Perdure.on(store).lease(LEASE).register(flow).start()) {
            return perdure.start(Invocation.of(flow, "x")).result(PATIENCE);
        }
    }

    private String take(Connection connection) throws SQLException {
        return query(connection, "INSERT INTO %s.account VALUES (1) RETURNING 'taken'".formatted(schema));
    }

    private String takings() {
        return TestServer.query("SELECT count(*) FROM %s.account".formatted(schema));
    }

    private static String query(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getString(1);
        }
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private void session(String sql) throws SQLException {
        try (Connection connection = application.getConnection()) {
            execute(connection, sql);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_read_only_spell_of_the_server_costs_no_attempt(Where where) throws Exception {
        Definition<String, String> flow = flow(where, this::take);
        session("SET default_transaction_read_only = on");
        try (Perdure perdure = Perdure.on(store).register(flow).start()) {
            int before = taken.get();
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            await().until(() -> taken.get() > before + 4 || run.state() == RunState.FAILED);
            session("SET default_transaction_read_only = off");
            assertThat(run.result(PATIENCE)).isEqualTo("taken");
        }
        assertThat(attempts).containsOnly(1);
        assertThat(takings()).isEqualTo("1");
    }

    @Test
    void a_long_wait_is_told_once_in_the_log() throws Exception {
        Logger logger = (Logger) LoggerFactory.getLogger("dev.perdure");
        ListAppender<ILoggingEvent> lines = new ListAppender<>();
        lines.start();
        Level level = logger.getLevel();
        logger.addAppender(lines);
        logger.setLevel(Level.WARN);
        Definition<String, String> flow = flow(Where.IN_THE_SAME_DATABASE, this::take);
        session("SET default_transaction_read_only = on");
        try (Perdure perdure = Perdure.on(store).register(flow).start()) {
            int before = taken.get();
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("a-run"));
            await().until(() -> taken.get() > before + 11);
            session("SET default_transaction_read_only = off");
            assertThat(run.result(PATIENCE)).isEqualTo("taken");
        } finally {
            logger.detachAppender(lines);
            logger.setLevel(level);
        }
        assertThat(List.copyOf(lines.list))
                .extracting(ILoggingEvent::getFormattedMessage)
                .containsOnlyOnce(
                        "Run a-run: transaction 'take' waits for its database, and continues when that is back: The server is read-only for now.");
    }

    @ParameterizedTest
    @ValueSource(strings = {"53100", "53200", "53300", "58030"})
    void a_statement_that_the_server_cannot_serve_for_now_costs_no_attempt(String state) {
        for (Where where : Where.values()) {
            attempts.clear();
            String result = run(where, connection -> {
                during(state, attempts.size() < 3);
                return take(connection);
            });
            assertThat(result).isEqualTo("taken");
            assertThat(attempts).containsExactly(1, 1, 1);
        }
        assertThat(takings()).isEqualTo("2");
    }

    @ParameterizedTest
    @EnumSource
    void a_record_that_the_server_cannot_write_for_now_costs_no_attempt(Where where) {
        String result = run(where, connection -> {
            during("53100", false);
            String took = take(connection);
            during("53100", attempts.size() < 3);
            return took;
        });
        assertThat(result).isEqualTo("taken");
        assertThat(attempts).containsExactly(1, 1, 1);
        assertThat(takings()).isEqualTo("1");
    }

    private void during(String state, boolean spell) {
        TestServer.execute("DELETE FROM %s.spell".formatted(schema));
        if (spell) {
            TestServer.execute("INSERT INTO %s.spell VALUES ('%s')".formatted(schema, state));
        }
    }

    private void fails(TransactionBody<Connection, String> body, String message) {
        attempts.clear();
        assertThatThrownBy(() -> run(Where.IN_THE_SAME_DATABASE, body))
                .isInstanceOf(RunFailedException.class)
                .hasMessageContaining(message);
        assertThat(attempts).containsExactly(1);
        assertThat(takings()).isEqualTo("0");
    }

    @Test
    void what_the_body_brings_about_by_itself_is_its_own_failure() {
        fails(
                connection -> {
                    execute(connection, "SET TRANSACTION READ ONLY");
                    return take(connection);
                },
                "read-only transaction");
        fails(
                connection -> {
                    execute(connection, "SET TRANSACTION READ ONLY");
                    return "nothing done";
                },
                "read-only transaction");
        fails(
                connection -> {
                    TestServer.execute("INSERT INTO %s.spell VALUES ('53400')".formatted(schema));
                    try {
                        return take(connection);
                    } finally {
                        during("53400", false);
                    }
                },
                "trouble 53400");
    }

    @ParameterizedTest
    @EnumSource
    void a_body_whose_exception_has_causes_in_a_circle_has_failed(Where where) {
        assertThatThrownBy(() -> run(where, connection -> {
                    Exception first = new IllegalStateException("the first");
                    Exception second = new IllegalStateException("the second", first);
                    first.initCause(second);
                    throw second;
                }))
                .isInstanceOf(RunFailedException.class)
                .hasMessageContaining("the second");
        assertThat(attempts).containsExactly(1);
    }

    @Test
    void trouble_of_another_connection_is_the_bodys_failure() {
        for (String state : List.of("53100", "25006")) {
            fails(
                    connection -> {
                        try (Connection another = TestServer.plain().getConnection()) {
                            execute(
                                    another,
                                    "DO $$ BEGIN RAISE EXCEPTION 'elsewhere' USING ERRCODE = '%s'; END $$"
                                            .formatted(state));
                        }
                        return take(connection);
                    },
                    "elsewhere");
        }
    }

    @Test
    void a_plan_that_a_migration_made_stale_costs_no_attempt() throws Exception {
        String select = "SELECT * FROM %s.account".formatted(schema);
        for (int i = 0; i < 6; i++) { // the driver prepares a statement on the server when it has seen it five times
            try (Connection connection = application.getConnection()) {
                prepared(connection, select);
            }
        }
        TestServer.execute("ALTER TABLE %s.account ADD COLUMN name text".formatted(schema));
        assertThat(run(Where.IN_THE_SAME_DATABASE, connection -> {
                    prepared(connection, select);
                    return take(connection);
                }))
                .isEqualTo("taken");
        assertThat(attempts).as("a body that met the stale plan, and another").containsExactly(1, 1);
    }

    private static void prepared(Connection connection, String sql) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.executeQuery();
        }
    }

    private static void awaitEndOf(String session) {
        await().until(() -> TestServer.query("SELECT count(*) FROM pg_stat_activity WHERE pid = " + session)
                .equals("0"));
    }

    private static final String IDLE_FOR_TOO_LONG =
            "Transaction step 'take' left its transaction idle for longer than PT1.5S, three quarters of the worker's lease, so the server ended it and nothing of it is committed. Do slow work in a step before it, or make the lease longer.";

    @Test
    void a_body_that_thinks_for_too_long_after_its_last_statement_has_failed() {
        fails(
                connection -> {
                    take(connection);
                    awaitEndOf(query(connection, "SELECT pg_backend_pid()"));
                    return "x".repeat(1_000_000); // not sent by one write
                },
                IDLE_FOR_TOO_LONG);
    }

    @Test
    void a_body_that_thinks_for_too_long_between_two_statements_has_failed() {
        fails(
                connection -> {
                    awaitEndOf(query(connection, "SELECT pg_backend_pid()"));
                    return take(connection);
                },
                IDLE_FOR_TOO_LONG);
    }

    @Test
    void a_body_that_thinks_for_too_long_in_another_database_has_failed() {
        attempts.clear();
        assertThatThrownBy(() -> run(Where.IN_ANOTHER_DATABASE, connection -> {
                    take(connection);
                    awaitEndOf(query(connection, "SELECT pg_backend_pid()"));
                    return "thought";
                }))
                .isInstanceOf(RunFailedException.class)
                .hasMessageContaining(IDLE_FOR_TOO_LONG);
        assertThat(attempts).containsExactly(1);
        assertThat(takings()).isEqualTo("0");
    }

    @Test
    void a_transaction_that_takes_longer_than_the_server_allows_has_failed() throws Exception {
        assumeTrue(
                Integer.parseInt(TestServer.query("SHOW server_version_num")) >= 170_000,
                "transaction_timeout came with PostgreSQL 17");
        session("SET transaction_timeout = '500ms'");
        fails(
                connection -> {
                    awaitEndOf(query(connection, "SELECT pg_backend_pid()"));
                    return "too late";
                },
                "transaction timeout");
    }
}
