package dev.perdure.jooq;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.jooq.impl.DSL.field;
import static org.jooq.impl.DSL.table;

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
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.SQLDialect;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Tests with jOOQ on a real PostgreSQL. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS) // one database for all tests
final class JooqTransactionsIT {
    private static final Field<Integer> BALANCE = field("balance", Integer.class);

    private SharedPostgres.Fresh database;
    private PostgresStore store;
    private DSLContext outside;
    private TransactionSource<DSLContext> accounts;

    @BeforeAll
    void open() {
        database = SharedPostgres.database("jooq");
        store = PostgresStore.on(database.dataSource()).notifications(false).open();
        accounts = JooqTransactions.on(PostgresTransactions.on(store));
        outside = DSL.using(database.dataSource(), SQLDialect.POSTGRES);
        outside.execute("CREATE TABLE account (balance int)");
    }

    @BeforeEach
    void fill() {
        outside.truncate("account").execute();
        outside.insertInto(table("account")).values(100).execute();
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
        return outside.select(BALANCE).from("account").fetchSingle(BALANCE);
    }

    private static int take(DSLContext sql, int amount) {
        return sql.update(table("account"))
                .set(BALANCE, BALANCE.minus(amount))
                .returning(BALANCE)
                .fetchSingle(BALANCE);
    }

    @Test
    void what_jooq_does_is_committed_with_the_record_and_rolled_back_with_the_body() {
        AtomicInteger bodies = new AtomicInteger();
        int left = run((ctx, amount) -> ctx.transaction(
                "take",
                accounts,
                sql -> {
                    int balance = take(sql, amount);
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
    void a_conflict_inside_jooqs_exception_runs_the_body_again() {
        AtomicInteger bodies = new AtomicInteger();
        run((ctx, amount) -> ctx.transaction(
                "take",
                accounts,
                sql -> {
                    sql.fetchCount(table("account"));
                    if (bodies.incrementAndGet() == 1) {
                        take(outside, 1);
                    }
                    return take(sql, amount);
                },
                TransactionOptions.isolation(TransactionOptions.Isolation.REPEATABLE_READ)
                        .retry(RetryPolicy.none())));
        assertThat(bodies).hasValue(2);
        assertThat(balance()).isEqualTo(69);
    }

    @Test
    void a_full_disk_inside_jooqs_exception_is_waited_for() {
        AtomicInteger bodies = new AtomicInteger();
        run((ctx, amount) -> ctx.transaction(
                "take",
                accounts,
                sql -> {
                    if (bodies.incrementAndGet() < 3) {
                        sql.execute("DO $$ BEGIN RAISE EXCEPTION 'no space left' USING ERRCODE = 'disk_full'; END $$");
                    }
                    return take(sql, amount);
                },
                TransactionOptions.defaults().retry(RetryPolicy.none())));
        assertThat(bodies).hasValue(3);
        assertThat(balance()).isEqualTo(70);
    }

    @Test
    void jooqs_own_transactions_are_refused() {
        assertThatThrownBy(() -> run((ctx, amount) -> ctx.transaction(
                        "take",
                        accounts,
                        sql -> sql.transactionResult(nested -> take(nested.dsl(), amount)),
                        TransactionOptions.defaults().retry(RetryPolicy.none()))))
                .isInstanceOf(RunFailedException.class)
                .hasStackTraceContaining("The transaction belongs to the engine");
        assertThat(balance()).isEqualTo(100);
    }
}
