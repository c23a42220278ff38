package dev.perdure.postgres;

import static dev.perdure.StartOptions.id;
import static dev.perdure.transaction.TransactionOptions.isolation;
import static dev.perdure.transaction.TransactionOptions.readOnly;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.RetryPolicy;
import dev.perdure.TypeRef;
import dev.perdure.WorkflowBody;
import dev.perdure.error.ContextMisuseException;
import dev.perdure.error.RunFailedException;
import dev.perdure.error.StepFailedException;
import dev.perdure.transaction.TransactionBody;
import dev.perdure.transaction.TransactionOptions;
import dev.perdure.transaction.TransactionOptions.Isolation;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Transaction steps in the database that Perdure's own tables are in. */
final class TransactionStepsIT {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final TransactionOptions ONCE = TransactionOptions.defaults().retry(RetryPolicy.none());

    private final String schema = TestServer.schemaOf(TransactionStepsIT.class);
    private HikariDataSource pool;
    private HikariDataSource applicationPool;
    private PostgresStore store;
    private PostgresTransactions accounts;

    @BeforeEach
    void open() {
        pool = TestServer.pool(5);
        applicationPool = TestServer.pool(2);
        store = PostgresStore.on(pool).schema(schema).notifications(false).open();
        accounts = PostgresTransactions.on(store, applicationPool);
        TestServer.execute("CREATE TABLE IF NOT EXISTS %s.account (name text PRIMARY KEY, balance int NOT NULL)"
                .formatted(schema));
        TestServer.execute("INSERT INTO %s.account VALUES ('a', 100), ('b', 100)".formatted(schema));
    }

    @AfterEach
    void close() {
        store.close();
        applicationPool.close();
        pool.close();
    }

    private String run(WorkflowBody<String, String> body) {
        Definition<String, String> flow = Definition.of("flow", String.class, String.class, body);
        try (Perdure perdure = Perdure.on(store)
                .retry(RetryPolicy.standard().initialDelay(Duration.ofMillis(1)))
                .register(flow)
                .start()) {
            return perdure.start(Invocation.of(flow, "x"), id("a-run")).result(PATIENCE);
        }
    }

    private int add(Connection connection, String name, int amount) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(
                        "UPDATE %s.account SET balance = balance + %d WHERE name = '%s' RETURNING balance"
                                .formatted(schema, amount, name))) {
            row.next();
            return row.getInt(1);
        }
    }

    private String balance(String name) {
        return TestServer.query("SELECT balance FROM %s.account WHERE name = '%s'".formatted(schema, name));
    }

    private String journal() {
        return TestServer.query(
                "SELECT concat_ws(' ', position, note, kind, name, status, payload) FROM %s.journals ORDER BY position, note"
                        .formatted(schema));
    }

    @Test
    void the_change_and_its_record_are_one_commit() {
        AtomicReference<String> inside = new AtomicReference<>();
        String result = run((ctx, in) -> {
            int left = ctx.transaction("take", accounts, connection -> {
                int balance = add(connection, "a", -30);
                inside.set(balance("a"));
                return balance;
            });
            ctx.transact("note", accounts, connection -> add(connection, "b", left));
            return in + left;
        });

        assertThat(result).isEqualTo("x70");
        assertThat(inside).as("what others see before the commit").hasValue("100");
        assertThat(balance("a")).isEqualTo("70");
        assertThat(balance("b")).isEqualTo("170");
        assertThat(journal()).isEqualTo("1 0 TRANSACTION take VALUE 70\n2 0 TRANSACTION note VALUE null");
        assertThat(TestServer.query(
                        "SELECT count(DISTINCT j.xmin::text) FROM %s.journal j JOIN %s.account a ON a.xmin = j.xmin"
                                .formatted(schema, schema)))
                .as("transactions that wrote an account and an entry")
                .isEqualTo("2");
    }

    @Test
    void an_exception_rolls_back_and_is_tried_again_by_the_policy() {
        List<Integer> attempts = new CopyOnWriteArrayList<>();
        run((ctx, in) -> ctx.transaction("take", accounts, connection -> {
            add(connection, "a", -30);
            attempts.add(ctx.attempt().number());
            if (attempts.size() < 3) {
                throw new IllegalStateException("not yet");
            }
            return in;
        }));

        assertThat(attempts).containsExactly(1, 2, 3);
        assertThat(balance("a")).isEqualTo("70");
    }

    @Test
    void a_step_that_gives_up_has_changed_nothing_and_fails_the_same_on_every_replay() {
        String result = run((ctx, in) -> {
            try {
                return ctx.transaction(
                        "take",
                        accounts,
                        connection -> {
                            add(connection, "a", -30);
                            throw new IllegalStateException("no credit");
                        },
                        TransactionOptions.defaults().retry(2));
            } catch (StepFailedException failed) {
                return failed.attempts() + " " + failed.errorType();
            }
        });

        assertThat(result).isEqualTo("2 java.lang.IllegalStateException");
        assertThat(balance("a")).isEqualTo("100");
    }

    @Test
    void what_loses_against_another_transaction_is_run_again_as_the_same_attempt() {
        AtomicInteger bodies = new AtomicInteger();
        List<Integer> attempts = new CopyOnWriteArrayList<>();
        run((ctx, in) -> ctx.transaction(
                "take",
                accounts,
                connection -> {
                    attempts.add(ctx.attempt().number());
                    query(connection, "SELECT balance FROM %s.account WHERE name = 'a'".formatted(schema));
                    if (bodies.incrementAndGet() <= 3) {
                        TestServer.execute(
                                "UPDATE %s.account SET balance = balance + 1 WHERE name = 'a'".formatted(schema));
                    }
                    add(connection, "a", -30);
                    return in;
                },
                isolation(Isolation.REPEATABLE_READ).retry(RetryPolicy.none())));

        assertThat(attempts).containsExactly(1, 1, 1, 1);
        assertThat(balance("a")).isEqualTo("73");
        assertThat(journal()).as("no failed attempt").isEqualTo("1 0 TRANSACTION take VALUE \"x\"");
    }

    @Test
    void losing_for_ever_ends_as_a_failed_attempt() {
        AtomicInteger bodies = new AtomicInteger();
        assertThatThrownBy(() -> run((ctx, in) -> ctx.transaction(
                        "take",
                        accounts,
                        connection -> {
                            bodies.incrementAndGet();
                            throw new SQLException("could not serialize", "40001");
                        },
                        ONCE)))
                .isInstanceOf(RunFailedException.class)
                .hasMessageContaining("could not serialize");
        assertThat(bodies).hasValue(51);
    }

    @Test
    void the_isolation_is_the_one_asked_for() {
        List<String> seen = new ArrayList<>();
        run((ctx, in) -> {
            for (Isolation level : Isolation.values()) {
                seen.add(ctx.transaction(
                        level.name(),
                        accounts,
                        connection -> query(connection, "SHOW transaction_isolation"),
                        isolation(level)));
            }
            return in;
        });

        assertThat(seen).containsExactly("read committed", "repeatable read", "serializable");
    }

    @Test
    void a_read_only_step_reads_is_recorded_and_cannot_write() {
        assertThatThrownBy(() -> run((ctx, in) -> {
                    int read = ctx.transaction(
                            "read",
                            accounts,
                            connection -> Integer.parseInt(
                                    query(connection, "SELECT sum(balance) FROM %s.account".formatted(schema))),
                            readOnly());
                    return ctx.transaction(
                            "write" + read,
                            accounts,
                            connection -> "" + add(connection, "a", 1),
                            readOnly().retry(RetryPolicy.none()));
                }))
                .isInstanceOf(RunFailedException.class)
                .hasMessageContaining("read-only transaction");
        assertThat(journal()).startsWith("1 0 TRANSACTION read VALUE 200\n2 0 TRANSACTION write200 FAILURE");
        assertThat(balance("a")).isEqualTo("100");
    }

    @FunctionalInterface
    private interface Misuse {
        void on(Connection connection) throws SQLException;
    }

    @Test
    void ending_or_changing_the_transaction_is_refused_and_says_why() {
        List<Misuse> misuses = List.of(
                Connection::commit,
                Connection::rollback,
                Connection::close,
                connection -> connection.abort(Runnable::run),
                connection -> connection.setAutoCommit(true),
                connection -> connection.setReadOnly(true),
                connection -> connection.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE),
                connection -> connection.unwrap(Connection.class).commit());
        List<Throwable> refusals = new CopyOnWriteArrayList<>();
        AtomicReference<Connection> kept = new AtomicReference<>();
        run((ctx, in) -> ctx.transaction("take", accounts, connection -> {
            refusals.clear();
            for (Misuse misuse : misuses) {
                try {
                    misuse.on(connection);
                } catch (ContextMisuseException refused) {
                    refusals.add(refused);
                }
            }
            kept.set(connection);
            add(connection, "a", -30);
            return in;
        }));

        assertThat(refusals).hasSize(misuses.size());
        assertThat(refusals.getFirst())
                .hasMessage(
                        "commit() was called in the body of a transaction step. The transaction belongs to the engine, which commits it with the step's record when the body returns, and rolls it back when it throws.");
        assertThat(balance("a")).as("and does no harm").isEqualTo("70");
        assertThatThrownBy(() -> kept.get().createStatement())
                .isInstanceOf(ContextMisuseException.class)
                .hasMessageContaining("that has ended");
    }

    @Test
    void savepoints_are_the_bodys_own() {
        run((ctx, in) -> ctx.transaction("take", accounts, connection -> {
            add(connection, "a", -30);
            var savepoint = connection.setSavepoint();
            add(connection, "b", 1_000);
            connection.rollback(savepoint);
            return in;
        }));
        assertThat(balance("a")).isEqualTo("70");
        assertThat(balance("b")).isEqualTo("100");
    }

    @Test
    void a_commit_that_goes_past_the_guard_is_found_out() {
        assertThatThrownBy(() -> run((ctx, in) -> ctx.transaction(
                        "take",
                        accounts,
                        connection -> {
                            try (Statement statement = connection.createStatement()) {
                                statement.execute("COMMIT");
                            }
                            add(connection, "a", -30);
                            return in;
                        },
                        ONCE)))
                .isInstanceOf(RunFailedException.class)
                .hasMessageContaining("has ended its transaction with a COMMIT or ROLLBACK of its own");
        assertThat(balance("a")).isEqualTo("100");
    }

    @Test
    void an_error_that_the_body_swallowed_rolls_back() {
        assertThatThrownBy(() -> run((ctx, in) -> ctx.transaction(
                        "take",
                        accounts,
                        connection -> {
                            add(connection, "a", -30);
                            try {
                                query(connection, "SELECT 1 / 0");
                            } catch (SQLException swallowed) {
                                return in;
                            }
                            throw new AssertionError("PostgreSQL divides by zero");
                        },
                        ONCE)))
                .isInstanceOf(RunFailedException.class)
                .hasMessageContaining("current transaction is aborted");
        assertThat(balance("a")).isEqualTo("100");
    }

    @Test
    void a_worker_that_lost_the_run_cannot_commit_the_applications_change() {
        AtomicInteger bodies = new AtomicInteger();
        run((ctx, in) -> ctx.transaction("take", accounts, connection -> {
            add(connection, "a", -30);
            if (bodies.incrementAndGet() == 1) {
                TestServer.execute("UPDATE %s.worker SET expires_at = now() - interval '1 s'".formatted(schema));
                assertThat(store.leases().sweep(10)).hasSize(1);
            }
            return in;
        }));

        assertThat(bodies).hasValue(2);
        assertThat(balance("a")).isEqualTo("70");
    }

    @Test
    void a_connection_that_breaks_in_the_body_costs_no_attempt() {
        List<Integer> attempts = new CopyOnWriteArrayList<>();
        run((ctx, in) -> ctx.transaction(
                "take",
                accounts,
                connection -> {
                    attempts.add(ctx.attempt().number());
                    add(connection, "a", -30);
                    if (attempts.size() == 1) {
                        TestServer.execute("SELECT pg_terminate_backend(%s)"
                                .formatted(query(connection, "SELECT pg_backend_pid()")));
                    }
                    return in + query(connection, "SELECT 1");
                },
                ONCE));

        assertThat(attempts).containsExactly(1, 1);
        assertThat(balance("a")).isEqualTo("70");
    }

    @Test
    void a_body_that_thinks_for_longer_than_the_lease_allows_loses_its_transaction_and_the_attempt() {
        List<Integer> attempts = new CopyOnWriteArrayList<>();
        Definition<String, String> flow = Definition.of(
                "flow",
                String.class,
                String.class,
                (ctx, in) -> ctx.transaction(
                        "take",
                        accounts,
                        connection -> {
                            attempts.add(ctx.attempt().number());
                            String session = query(connection, "SELECT pg_backend_pid()");
                            if (attempts.size() == 1) {
                                await().until(() -> TestServer.query(
                                                "SELECT count(*) FROM pg_stat_activity WHERE pid = " + session)
                                        .equals("0"));
                            }
                            return in + add(connection, "a", -30);
                        },
                        TransactionOptions.defaults().retry(2)));
        try (Perdure perdure =
                Perdure.on(store).lease(Duration.ofSeconds(3)).register(flow).start()) {
            assertThat(perdure.start(Invocation.of(flow, "x")).result(PATIENCE)).isEqualTo("x70");
        }
        assertThat(attempts).containsExactly(1, 2);
        assertThat(balance("a")).isEqualTo("70");
    }

    @Test
    void a_timeout_rolls_back_and_counts_as_an_attempt() {
        List<Integer> attempts = new CopyOnWriteArrayList<>();
        run((ctx, in) -> ctx.transaction(
                "take",
                accounts,
                connection -> {
                    attempts.add(ctx.attempt().number());
                    if (attempts.size() == 1) {
                        query(connection, "SELECT pg_sleep(20)");
                    }
                    return in + add(connection, "a", -30);
                },
                TransactionOptions.defaults().retry(2).timeout(Duration.ofSeconds(1))));

        assertThat(attempts).containsExactly(1, 2);
        assertThat(balance("a")).isEqualTo("70");
    }

    @Test
    void a_generic_result_is_written_out() {
        List<String> names = new ArrayList<>();
        run((ctx, in) -> {
            names.addAll(ctx.transaction(
                    "names",
                    accounts,
                    TransactionBody.returning(
                            new TypeRef<List<String>>() {},
                            connection ->
                                    List.of(query(connection, "SELECT min(name) FROM %s.account".formatted(schema)))),
                    TransactionOptions.defaults()));
            return in;
        });
        assertThat(names).containsExactly("a");
    }

    @Test
    void a_source_is_seen_as_something_else() {
        String result = run((ctx, in) -> ctx.transaction(
                "take", accounts.as(connection -> new Accounts(connection)), bank -> in + bank.take(30)));
        assertThat(result).isEqualTo("x70");
    }

    /** What an application makes of a connection. */
    private final class Accounts {
        private final Connection connection;

        Accounts(Connection connection) {
            this.connection = connection;
        }

        int take(int amount) throws SQLException {
            return add(connection, "a", -amount);
        }
    }

    private static String query(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getString(1);
        }
    }
}
