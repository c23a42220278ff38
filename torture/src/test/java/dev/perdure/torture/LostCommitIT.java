package dev.perdure.torture;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.StartOptions;
import dev.perdure.embedded.SharedPostgres;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.postgres.PostgresTransactions;
import dev.perdure.torture.setup.FaultyProxy;
import dev.perdure.torture.setup.FaultyProxy.Kind;
import dev.perdure.torture.work.Transfers;
import dev.perdure.torture.work.Transfers.Transfer;
import dev.perdure.transaction.TransactionSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The connection of a transaction step ends with the commit on its way, and the process lives on. */
@Timeout(value = 2, unit = TimeUnit.MINUTES)
class LostCommitIT {
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private final AtomicInteger bodies = new AtomicInteger();
    private SharedPostgres.Fresh database;
    private FaultyProxy proxy;
    private HikariDataSource pool;
    private HikariDataSource bankPool;
    private PostgresStore store;

    @FunctionalInterface
    private interface Mishap {
        void on(Connection connection) throws SQLException;
    }

    @BeforeEach
    void open() throws SQLException {
        database = SharedPostgres.database("lost_commit");
        proxy = new FaultyProxy(SharedPostgres.server().port(), 1, 42);
        pool = SmallPool.of(database.jdbcUrl(), database.user(), database.password());
        String bankUrl = "jdbc:postgresql://127.0.0.1:%d/%s?sslmode=disable&gssEncMode=disable"
                .formatted(proxy.port(), database.name());
        bankPool = SmallPool.of(bankUrl, database.user(), database.password());
        store = PostgresStore.on(pool).open();
        try (Connection connection = pool.getConnection()) {
            Transfers.create(connection);
        }
    }

    @AfterEach
    void close() {
        store.close();
        bankPool.close();
        pool.close();
        proxy.close();
        database.close();
    }

    private int transferWith(Mishap first) {
        TransactionSource<Connection> accounts = PostgresTransactions.on(store, bankPool);
        Definition<Transfer, Integer> transfer = Definition.of(
                "transfer",
                Transfer.class,
                Integer.class,
                (ctx, in) -> ctx.transaction("transfer", accounts, connection -> {
                    int left = Transfers.transfer(connection, "run", in);
                    if (bodies.incrementAndGet() == 1) {
                        first.on(connection);
                    }
                    return left;
                }));
        try (Perdure perdure = Perdure.on(store).register(transfer).start()) {
            return perdure.start(Invocation.of(transfer, new Transfer(1, 2, 100)), StartOptions.id("run"))
                    .result(PATIENCE);
        }
    }

    @Test
    void a_commit_that_was_done_is_found_out_and_no_body_runs_twice() throws Exception {
        assertThat(transferWith(connection -> proxy.cutting(true))).isEqualTo(Transfers.BALANCE - 100);
        assertThat(proxy.hits()).containsEntry(Kind.TRANSACTION, 1);
        assertThat(bodies).hasValue(1);
        assertThat(Transfers.violations(pool, 1)).isEmpty();
    }

    @Test
    void a_commit_that_was_not_done_is_found_out_and_the_body_runs_again() throws Exception {
        assertThat(transferWith(LostCommitIT::terminate)).isEqualTo(Transfers.BALANCE - 100);
        assertThat(bodies).hasValue(2);
        assertThat(Transfers.violations(pool, 1)).isEmpty();
    }

    /** Ends the session of this connection from another one. */
    private static void terminate(Connection connection) throws SQLException {
        try (Statement asked = connection.createStatement();
                var row = asked.executeQuery("SELECT pg_backend_pid()");
                Connection other = SharedPostgres.server().dataSource().getConnection();
                Statement statement = other.createStatement()) {
            row.next();
            statement.execute("SELECT pg_terminate_backend(%d, 10000)".formatted(row.getInt(1)));
        }
    }
}
