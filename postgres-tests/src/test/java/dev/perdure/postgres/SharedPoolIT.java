package dev.perdure.postgres;

import static dev.perdure.transaction.TransactionOptions.isolation;
import static dev.perdure.transaction.TransactionOptions.readOnly;
import static org.assertj.core.api.Assertions.assertThat;

import com.mchange.v2.c3p0.ComboPooledDataSource;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.RetryPolicy;
import dev.perdure.transaction.TransactionOptions.Isolation;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.apache.commons.dbcp2.BasicDataSource;
import org.apache.tomcat.jdbc.pool.PoolProperties;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.postgresql.core.BaseConnection;
import org.postgresql.ds.PGSimpleDataSource;
import org.postgresql.jdbc.AutoSave;

/** A pool that the store shares with the application: its connections go back as they came. */
final class SharedPoolIT {
    private static final int CONNECTIONS = 7;
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final String SCHEMA = TestServer.newSchema();

    private static final String SESSION = """
        SELECT pg_backend_pid(), concat_ws(', ', current_setting('search_path'), current_schema(),
            current_setting('default_transaction_isolation'), current_setting('default_transaction_read_only'),
            current_setting('transaction_isolation'), current_setting('transaction_read_only'),
            current_setting('statement_timeout'), current_setting('lock_timeout'),
            current_setting('idle_in_transaction_session_timeout'), current_setting('enable_seqscan'),
            current_setting('jit'), current_setting('plan_cache_mode'),
            'listens to ' || array(SELECT pg_listening_channels())::text)
        """;

    /** What applications use. */
    enum Pool {
        HIKARI,
        DBCP2,
        TOMCAT,
        C3P0;

        DataSource on(PGSimpleDataSource source, boolean autoCommit) {
            return switch (this) {
                case HIKARI -> hikari(source, autoCommit);
                case DBCP2 -> dbcp2(source, autoCommit);
                case TOMCAT -> tomcat(source, autoCommit);
                case C3P0 -> c3p0(source, autoCommit);
            };
        }
    }

    private static DataSource hikari(PGSimpleDataSource source, boolean autoCommit) {
        HikariConfig config = new HikariConfig();
        config.setDataSource(source);
        config.setMaximumPoolSize(CONNECTIONS);
        config.setAutoCommit(autoCommit);
        return new HikariDataSource(config);
    }

    private static DataSource dbcp2(PGSimpleDataSource source, boolean autoCommit) {
        BasicDataSource pool = new BasicDataSource();
        pool.setUrl(source.getUrl());
        pool.setUsername(source.getUser());
        pool.setPassword(source.getPassword());
        pool.setMaxTotal(CONNECTIONS);
        pool.setMaxIdle(CONNECTIONS);
        pool.setDefaultAutoCommit(autoCommit);
        return pool;
    }

    private static DataSource tomcat(PGSimpleDataSource source, boolean autoCommit) {
        PoolProperties config = new PoolProperties();
        config.setDataSource(source);
        config.setMaxActive(CONNECTIONS);
        config.setMaxIdle(CONNECTIONS);
        config.setDefaultAutoCommit(autoCommit);
        return new org.apache.tomcat.jdbc.pool.DataSource(config);
    }

    /** It has no setting for autocommit: a connection comes as the driver opens it. */
    private static DataSource c3p0(PGSimpleDataSource source, boolean autoCommit) {
        assertThat(source.getUrl()).isNotEmpty();
        ComboPooledDataSource pool = new ComboPooledDataSource();
        pool.setJdbcUrl(source.getUrl());
        pool.setUser(source.getUser());
        pool.setPassword(source.getPassword());
        pool.setInitialPoolSize(CONNECTIONS);
        pool.setMinPoolSize(CONNECTIONS);
        pool.setMaxPoolSize(CONNECTIONS);
        pool.setAutoCommitOnClose(autoCommit);
        return pool;
    }

    @BeforeAll
    static void migrate() {
        PostgresStore.on(TestServer.plain()).schema(SCHEMA).open().close();
        OtherDatabase.on(TestServer.plain(), SCHEMA).migrate();
        TestServer.execute("CREATE TABLE %s.account (balance int)".formatted(SCHEMA));
    }

    @ParameterizedTest
    @EnumSource
    void its_connections_go_back_as_they_came(Pool kind) throws Exception {
        goBackAsTheyCame(kind.on(TestServer.plain(), true));
    }

    @ParameterizedTest
    @EnumSource
    void also_without_autocommit_with_savepoints_and_a_timeout_of_its_own(Pool kind) throws Exception {
        PGSimpleDataSource source = TestServer.plain();
        source.setAutosave(AutoSave.ALWAYS);
        source.setSocketTimeout(60);
        source.setCurrentSchema("pg_catalog");
        goBackAsTheyCame(kind.on(source, false));
    }

    private static void goBackAsTheyCame(DataSource pool) throws Exception {
        try {
            Map<Integer, String> before = connections(pool);
            use(pool);
            assertThat(connections(pool)).isEqualTo(before).hasSize(CONNECTIONS);
        } finally {
            closeable(pool).close();
        }
    }

    private static AutoCloseable closeable(DataSource pool) {
        return switch (pool) {
            case AutoCloseable closeable -> closeable;
            case org.apache.tomcat.jdbc.pool.DataSource tomcat -> tomcat::close;
            default -> throw new IllegalArgumentException("How is it closed? " + pool);
        };
    }

    /** All that the engine and its kinds of transaction steps do with connections, failures included. */
    private static void use(DataSource pool) throws InterruptedException {
        try (PostgresStore store = PostgresStore.on(pool).schema(SCHEMA).open()) {
            store.awaitListening();
            PostgresTransactions same = PostgresTransactions.on(store, pool);
            OtherDatabase other = OtherDatabase.on(pool, SCHEMA);
            PlainTransactions plain = PlainTransactions.on(pool);
            AtomicInteger bodies = new AtomicInteger();
            Definition<String, String> flow = Definition.of("flow", String.class, String.class, (ctx, in) -> {
                ctx.transact("same", same, SharedPoolIT::write, isolation(Isolation.SERIALIZABLE));
                ctx.transact("read", same, SharedPoolIT::read, readOnly());
                ctx.transact("fails once", same, connection -> {
                    write(connection);
                    if (bodies.incrementAndGet() == 1) {
                        throw new IllegalStateException("once");
                    }
                });
                ctx.transact("other", other, SharedPoolIT::write, isolation(Isolation.REPEATABLE_READ));
                ctx.transact("plain", plain, SharedPoolIT::write, isolation(Isolation.SERIALIZABLE));
                ctx.transact("plain read", plain, SharedPoolIT::read, readOnly());
                return ctx.step("step", () -> in);
            });
            try (Perdure perdure = Perdure.on(store)
                    .retry(RetryPolicy.standard().initialDelay(Duration.ofMillis(1)))
                    .register(flow)
                    .start()) {
                assertThat(perdure.start(Invocation.of(flow, "done")).result(PATIENCE))
                        .isEqualTo("done");
            }
        }
    }

    private static void write(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("INSERT INTO %s.account VALUES (1)".formatted(SCHEMA));
        }
    }

    private static void read(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("SELECT sum(balance) FROM %s.account".formatted(SCHEMA));
        }
    }

    /** What the application finds when it takes all of them, by session. */
    private static Map<Integer, String> connections(DataSource pool) throws SQLException {
        List<Connection> taken = new ArrayList<>();
        try {
            Map<Integer, String> found = new TreeMap<>();
            for (int i = 0; i < CONNECTIONS; i++) {
                Connection connection = pool.getConnection();
                taken.add(connection);
                describe(connection, found);
            }
            return found;
        } finally {
            for (Connection connection : taken) {
                connection.close();
            }
        }
    }

    private static void describe(Connection connection, Map<Integer, String> found) throws SQLException {
        BaseConnection driver = connection.unwrap(BaseConnection.class);
        String atTheDriver = "%s, autocommit %s, timeout %d ms, autosave %s, isolation %d, read-only %s, holdability %d"
                .formatted(
                        driver.getTransactionState(),
                        connection.getAutoCommit(),
                        connection.getNetworkTimeout(),
                        driver.getAutosave(),
                        connection.getTransactionIsolation(),
                        connection.isReadOnly(),
                        connection.getHoldability());
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(SESSION)) {
            row.next();
            found.put(row.getInt(1), atTheDriver + ", " + row.getString(2));
        }
        if (!connection.getAutoCommit()) {
            connection.rollback();
        }
    }
}
