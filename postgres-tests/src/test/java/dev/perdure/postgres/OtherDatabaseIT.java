package dev.perdure.postgres;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.RetryPolicy;
import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.WorkflowBody;
import dev.perdure.error.RunFailedException;
import dev.perdure.error.TerminalException;
import dev.perdure.memory.MemoryStore;
import dev.perdure.spi.Transacted;
import dev.perdure.spi.TransactionTicket;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.transaction.TransactionOptions;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Transaction steps in a database that Perdure's own tables are not in. */
final class OtherDatabaseIT {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final String schema = TestServer.newSchema();
    private HikariDataSource pool;
    private OtherDatabase warehouse;

    @BeforeEach
    void open() {
        pool = TestServer.pool(1);
        warehouse = OtherDatabase.on(pool, schema);
        warehouse.migrate();
        TestServer.execute("CREATE TABLE %s.stock (number int)".formatted(schema));
    }

    @AfterEach
    void close() {
        pool.close();
    }

    private void take(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("INSERT INTO %s.stock VALUES (1)".formatted(schema));
        }
    }

    private String taken() {
        return TestServer.query("SELECT count(*) FROM %s.stock".formatted(schema));
    }

    private String run(WorkflowBody<String, String> body) {
        Definition<String, String> flow = Definition.of("flow", String.class, String.class, body);
        try (MemoryStore store = new MemoryStore();
                Perdure perdure = Perdure.on(store)
                        .retry(RetryPolicy.standard().initialDelay(Duration.ofMillis(1)))
                        .register(flow)
                        .start()) {
            return perdure.start(Invocation.of(flow, "x"), id("a-run")).result(PATIENCE);
        }
    }

    @Test
    void a_step_is_done_there_and_recorded_here() {
        assertThat(run((ctx, in) -> ctx.transaction("take", warehouse, connection -> {
                    take(connection);
                    return in + 1;
                })))
                .isEqualTo("x1");
        assertThat(taken()).isEqualTo("1");
    }

    @Test
    void an_exception_rolls_back_and_the_policy_decides() {
        AtomicInteger bodies = new AtomicInteger();
        assertThatThrownBy(() -> run((ctx, in) -> ctx.transaction(
                        "take",
                        warehouse,
                        connection -> {
                            take(connection);
                            throw new IllegalStateException("nothing left " + bodies.incrementAndGet());
                        },
                        TransactionOptions.defaults().retry(2))))
                .isInstanceOf(RunFailedException.class)
                .hasMessageContaining("nothing left 2");
        assertThat(taken()).isEqualTo("0");
    }

    private static TransactionTicket ticket(long seed, long epoch) {
        return new TransactionTicket(
                new WorkerId(UUID.randomUUID()),
                Duration.ofSeconds(10),
                new RunRef(RunId.of("a-run"), 1),
                seed,
                epoch,
                3,
                TransactionOptions.defaults());
    }

    private static Entry entry(Entry.Status status, String payload) {
        return new Entry(3, Entry.ANSWER, Entry.Kind.TRANSACTION, "take", status, StoreFixture.json(payload));
    }

    private Transacted take(TransactionTicket ticket, String payload) throws Exception {
        return warehouse.run(ticket, connection -> {
            take(connection);
            return entry(Entry.Status.VALUE, payload);
        });
    }

    @Test
    void what_was_committed_before_the_journal_knew_is_found_and_not_done_again() throws Exception {
        Entry first = entry(Entry.Status.VALUE, "1");
        assertThat(take(ticket(7, 1), "1")).isEqualTo(new Transacted.Completed(first));
        AtomicInteger bodies = new AtomicInteger();
        assertThat(warehouse.run(ticket(7, 2), connection -> {
                    bodies.incrementAndGet();
                    return entry(Entry.Status.VALUE, "2");
                }))
                .isEqualTo(new Transacted.Completed(first));
        assertThat(bodies).hasValue(0);
        assertThat(take(ticket(8, 1), "2"))
                .as("a run of another database with the same id")
                .isEqualTo(new Transacted.Completed(entry(Entry.Status.VALUE, "2")));
        assertThat(taken()).isEqualTo("2");
    }

    @Test
    void of_two_workers_at_the_same_step_one_is_committed() throws Exception {
        Transacted late = warehouse.run(ticket(7, 1), connection -> {
            take(connection);
            try (HikariDataSource other = TestServer.pool(1)) {
                OtherDatabase.on(other, schema).run(ticket(7, 2), faster -> {
                    take(faster);
                    return entry(Entry.Status.VALUE, "\"faster\"");
                });
            }
            return entry(Entry.Status.VALUE, "\"late\"");
        });
        assertThat(late)
                .isInstanceOfSatisfying(
                        Transacted.InDoubt.class,
                        doubt -> assertThat(doubt.inquiry().ask())
                                .isEqualTo(new Transacted.Completed(entry(Entry.Status.VALUE, "\"faster\""))));
        assertThat(taken()).isEqualTo("1");
    }

    @Test
    void a_step_that_was_given_up_is_not_done_any_more() throws Exception {
        Entry failure = entry(Entry.Status.FAILURE, "\"enough\"");
        assertThat(warehouse.giveUp(ticket(7, 2), failure)).isEqualTo(failure);
        assertThat(take(ticket(7, 1), "1")).isEqualTo(new Transacted.Completed(failure));
        assertThat(taken()).isEqualTo("0");
    }

    @Test
    void a_step_that_was_given_up_is_done_under_a_later_epoch_and_by_no_late_worker() throws Exception {
        warehouse.giveUp(ticket(7, 2), entry(Entry.Status.FAILURE, "\"first\""));
        Entry again = entry(Entry.Status.FAILURE, "\"again\"");
        assertThat(warehouse.giveUp(ticket(7, 3), again)).isEqualTo(again);
        assertThat(take(ticket(7, 2), "1")).isEqualTo(new Transacted.Completed(again));

        Entry done = entry(Entry.Status.VALUE, "4");
        assertThat(take(ticket(7, 4), "4")).isEqualTo(new Transacted.Completed(done));
        for (int epoch = 1; epoch <= 5; epoch++) {
            assertThat(take(ticket(7, epoch), "5")).isEqualTo(new Transacted.Completed(done));
            assertThat(warehouse.giveUp(ticket(7, epoch), again)).isEqualTo(done);
        }
        assertThat(taken()).isEqualTo("1");
    }

    @Test
    void a_step_whose_late_worker_gives_up_during_the_body_is_done() throws Exception {
        Transacted refused = warehouse.run(ticket(7, 2), connection -> {
            take(connection);
            try (HikariDataSource other = TestServer.pool(1)) {
                OtherDatabase.on(other, schema).giveUp(ticket(7, 1), entry(Entry.Status.FAILURE, "\"late\""));
            }
            return entry(Entry.Status.VALUE, "1");
        });
        assertThat(refused).isEqualTo(new Transacted.Completed(entry(Entry.Status.VALUE, "1")));
        assertThat(taken()).isEqualTo("1");
    }

    @Test
    void a_retried_step_runs_its_body_again() {
        AtomicInteger bodies = new AtomicInteger();
        Definition<String, String> flow = Definition.of(
                "flow",
                String.class,
                String.class,
                (ctx, in) -> ctx.transaction("take", warehouse, connection -> {
                    take(connection);
                    if (bodies.incrementAndGet() <= 2) {
                        throw new TerminalException("The warehouse is closed.");
                    }
                    return in + bodies;
                }));
        try (MemoryStore store = new MemoryStore();
                Perdure perdure = Perdure.on(store).register(flow).start()) {
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("a-run"));
            for (int failures = 1; failures <= 2; failures++) {
                assertThatThrownBy(() -> run.result(PATIENCE)).hasMessageContaining("The warehouse is closed.");
                assertThat(bodies).hasValue(failures);
                run.retry();
            }
            assertThat(run.result(PATIENCE)).isEqualTo("x3");
        }
        assertThat(taken()).isEqualTo("1");
    }

    @Test
    void a_table_of_an_earlier_version_works_as_before_and_gets_the_epoch() throws Exception {
        TestServer.execute("ALTER TABLE %s.completion DROP COLUMN IF EXISTS epoch".formatted(schema));
        Entry failure = entry(Entry.Status.FAILURE, "\"enough\"");
        assertThat(warehouse.giveUp(ticket(7, 2), failure)).isEqualTo(failure);
        assertThat(take(ticket(7, 3), "1")).isEqualTo(new Transacted.Completed(failure));
        assertThat(take(ticket(8, 3), "1")).isEqualTo(new Transacted.Completed(entry(Entry.Status.VALUE, "1")));

        warehouse.migrate();
        warehouse.migrate();
        assertThat(take(ticket(7, 3), "1")).isEqualTo(new Transacted.Completed(failure));
        warehouse.giveUp(ticket(9, 2), failure);
        assertThat(take(ticket(9, 3), "1")).isEqualTo(new Transacted.Completed(entry(Entry.Status.VALUE, "1")));
        assertThat(taken()).isEqualTo("2");
    }

    @Test
    void what_was_done_all_the_same_counts_when_a_step_gives_up() throws Exception {
        take(ticket(7, 1), "1");
        assertThat(warehouse.giveUp(ticket(7, 2), entry(Entry.Status.FAILURE, "\"enough\"")))
                .isEqualTo(entry(Entry.Status.VALUE, "1"));
    }

    @Test
    void old_memories_are_forgotten_by_age() throws Exception {
        take(ticket(7, 1), "1");
        assertThat(warehouse.forget(Duration.ofDays(1))).isZero();
        TestServer.execute("UPDATE %s.completion SET at = at - interval '2 days'".formatted(schema));
        assertThat(warehouse.forget(Duration.ofDays(1))).isEqualTo(1);
    }

    @Test
    void old_memories_are_forgotten_without_being_asked() throws Exception {
        take(ticket(7, 1), "1");
        TestServer.execute("UPDATE %s.completion SET at = at - interval '2 days'".formatted(schema));
        OtherDatabase again = OtherDatabase.on(pool, schema, Duration.ofDays(1));
        again.run(ticket(8, 1), connection -> entry(Entry.Status.VALUE, "1"));
        await().untilAsserted(() -> assertThat(
                        TestServer.query("SELECT string_agg(seed::text, ',') FROM %s.completion".formatted(schema)))
                .isEqualTo(Long.toString(ticket(8, 1).seed())));
    }

    @Test
    void plain_transactions_of_a_test_commit_roll_back_and_rerun() {
        PlainTransactions plain = PlainTransactions.on(pool);
        AtomicInteger bodies = new AtomicInteger();
        assertThat(run((ctx, in) -> {
                    ctx.transact("take", plain, this::take);
                    return ctx.transaction(
                            "fail",
                            plain,
                            connection -> {
                                take(connection);
                                return switch (bodies.incrementAndGet()) {
                                    case 1 -> throw new IllegalStateException("once");
                                    case 2 -> throw new SQLException("lost", "40001");
                                    default -> in + ctx.attempt().number();
                                };
                            },
                            TransactionOptions.isolation(TransactionOptions.Isolation.SERIALIZABLE));
                }))
                .isEqualTo("x2");
        assertThat(taken()).isEqualTo("2");
        assertThat(bodies).hasValue(3);
    }
}
