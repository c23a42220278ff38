package dev.perdure.jdbi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.RetryPolicy;
import dev.perdure.WorkflowBody;
import dev.perdure.embedded.SharedPostgres;
import dev.perdure.error.RunFailedException;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.postgres.PostgresTransactions;
import dev.perdure.transaction.TransactionOptions;
import dev.perdure.transaction.TransactionSource;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Tests with Jdbi on a real PostgreSQL. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS) // one database for all tests
final class JdbiTransactionsIT {
    private SharedPostgres.Fresh database;
    private PostgresStore store;
    private Jdbi outside;
    private TransactionSource<Handle> accounts;

    @BeforeAll
    void open() {
        database = SharedPostgres.database("jdbi");
        store = PostgresStore.on(database.dataSource()).notifications(false).open();
        accounts = JdbiTransactions.on(PostgresTransactions.on(store), jdbi -> jdbi.define("accounts", "account"));
        outside = Jdbi.create(database.dataSource());
        outside.useHandle(handle -> handle.execute("CREATE TABLE account (balance int)"));
    }

    @BeforeEach
    void fill() {
        outside.useHandle(handle -> handle.execute("TRUNCATE account; INSERT INTO account VALUES (100)"));
    }

    @AfterAll
    void close() {
        store.close();
        database.close();
    }

    private int run(WorkflowBody<Integer, Integer> body) {
        Definition<Integer, Integer> flow = Definition.of("flow", Integer.class, Integer.class, body);
        try (Perdure perdure = Perdure.on(store).register(flow).start()) {
            return perdure.start(Invocation.of(flow, 30)).result(Duration.ofSeconds(30));
        }
    }

    private int balance() {
        return outside.withHandle(handle -> handle.createQuery("SELECT balance FROM account")
                .mapTo(int.class)
                .one());
    }

    private static int take(Handle handle, int amount) {
        return handle.createQuery("UPDATE account SET balance = balance - :amount RETURNING balance")
                .bind("amount", amount)
                .mapTo(int.class)
                .one();
    }

    @Test
    void what_jdbi_does_is_committed_with_the_record_and_rolled_back_with_the_body() {
        AtomicInteger bodies = new AtomicInteger();
        int left = run((ctx, amount) -> ctx.transaction(
                "take",
                accounts,
                handle -> {
                    int balance = take(handle, amount);
                    if (bodies.incrementAndGet() == 1) {
                        throw new IllegalStateException("once");
                    }
                    return balance;
                },
                TransactionOptions.defaults().retry(RetryPolicy.standard().initialDelay(Duration.ofMillis(1)))));
        assertThat(left).isEqualTo(70);
        assertThat(balance()).isEqualTo(70);
        assertThat(bodies).hasValue(2);
    }

    @Test
    void the_applications_settings_hold() {
        int count = run((ctx, amount) -> ctx.transaction(
                "count",
                accounts,
                handle -> handle.createQuery("SELECT count(*) FROM <accounts>")
                        .mapTo(int.class)
                        .one()));
        assertThat(count).isEqualTo(1);
    }

    @Test
    void a_conflict_inside_jdbis_exception_runs_the_body_again() {
        AtomicInteger bodies = new AtomicInteger();
        run((ctx, amount) -> ctx.transaction(
                "take",
                accounts,
                handle -> {
                    handle.createQuery("SELECT balance FROM account")
                            .mapTo(int.class)
                            .one();
                    if (bodies.incrementAndGet() == 1) {
                        outside.useHandle(other -> take(other, 1));
                    }
                    return take(handle, amount);
                },
                TransactionOptions.isolation(TransactionOptions.Isolation.REPEATABLE_READ)
                        .retry(RetryPolicy.none())));
        assertThat(bodies).hasValue(2);
        assertThat(balance()).isEqualTo(69);
    }

    @Test
    void a_commit_by_the_body_is_refused() {
        assertThatThrownBy(() -> run((ctx, amount) -> ctx.transaction(
                        "take",
                        accounts,
                        handle -> {
                            int left = take(handle, amount);
                            handle.commit();
                            return left;
                        },
                        TransactionOptions.defaults().retry(RetryPolicy.none()))))
                .isInstanceOf(RunFailedException.class)
                .hasStackTraceContaining("The transaction belongs to the engine");
        assertThat(balance()).isEqualTo(100);
    }

    @Test
    void a_full_disk_inside_jdbis_exception_is_waited_for() {
        AtomicInteger bodies = new AtomicInteger();
        run((ctx, amount) -> ctx.transaction(
                "take",
                accounts,
                handle -> {
                    if (bodies.incrementAndGet() < 3) {
                        handle.execute(
                                "DO $$ BEGIN RAISE EXCEPTION 'no space left' USING ERRCODE = 'disk_full'; END $$");
                    }
                    return take(handle, amount);
                },
                TransactionOptions.defaults().retry(RetryPolicy.none())));
        assertThat(bodies).hasValue(3);
        assertThat(balance()).isEqualTo(70);
    }
}
