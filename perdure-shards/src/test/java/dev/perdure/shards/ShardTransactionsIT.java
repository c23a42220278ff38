package dev.perdure.shards;

import static dev.perdure.StartOptions.id;
import static dev.perdure.shards.Shard.shard;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.embedded.SharedPostgres;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.postgres.ShardTransactions;
import dev.perdure.spi.Leases.Joining;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Transacted;
import dev.perdure.spi.TransactionTicket;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.transaction.TransactionOptions;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Transaction steps on the database of one of two shards, which is that of the application. */
@Timeout(120)
final class ShardTransactionsIT {
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final int POSITION = 1;

    private final SharedPostgres.Fresh a = SharedPostgres.database("transactions_a");
    private final SharedPostgres.Fresh b = SharedPostgres.database("transactions_b");
    private final WorkerId worker = new WorkerId(UUID.randomUUID());
    private PostgresStore first;
    private ShardedStore store;
    private ShardTransactions stock;

    @BeforeEach
    void open() throws SQLException {
        DataSource applicationPool = a.dataSource();
        first = PostgresStore.on(a.dataSource()).open();
        PostgresStore second = PostgresStore.on(b.dataSource()).open();
        // region set-up
        store = ShardedStore.over(shard("a", first), shard("b", second));
        stock = ShardTransactions.on(first, applicationPool);
        stock.migrate(); // or let a DBA run OtherDatabase.migration("perdure")
        // endregion
        execute("CREATE TABLE stock (run text)");
    }

    @AfterEach
    void close() {
        store.close();
        a.close();
        b.close();
    }

    private void execute(String sql) throws SQLException {
        try (Connection connection = a.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private int count(String from) throws SQLException {
        try (Connection connection = a.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT count(*) FROM " + from)) {
            row.next();
            return row.getInt(1);
        }
    }

    private static void take(Connection connection, String run) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("INSERT INTO stock VALUES ('" + run + "')");
        }
    }

    @Test
    void runs_of_both_shards_change_the_application_s_tables_once() throws SQLException {
        Definition<String, Integer> taking = Definition.of(
                "taking",
                String.class,
                Integer.class,
                (ctx, run) -> ctx.transaction("take", stock, connection -> {
                    take(connection, run);
                    return run.length();
                }));
        String ofA = MembershipTest.onShard(store, 0).value();
        String ofB = MembershipTest.onShard(store, 1).value();
        try (Perdure perdure = Perdure.on(store).register(taking).start()) {
            for (String run : List.of(ofA, ofB)) {
                assertThat(perdure.start(Invocation.of(taking, run), id(run)).result(SOON))
                        .isEqualTo(run.length());
                assertThat(count("stock WHERE run = '" + run + "'")).isEqualTo(1);
            }
        }
        assertThat(count("perdure.completion")).isEqualTo(2);
        String recorded =
                "perdure.journal j JOIN perdure.run r USING (key) WHERE j.position = 1 AND j.note = 0 AND r.id = '%s'";
        assertThat(count(recorded.formatted(ofA))).isEqualTo(1);
    }

    /** A run of the application's shard that the worker holds. */
    private RunRef held() {
        first.leases().join(new Joining(worker, Set.of("order"), null, Duration.ofMinutes(10), 4));
        String id = MembershipTest.onShard(store, 0).value();
        Outcome outcome = first.ledger()
                .apply(new Lane(worker, 0), List.of(new Change.Start(MembershipTest.run(id), worker)))
                .getFirst();
        return ((Outcome.Started) outcome).run();
    }

    private Transacted step(WorkerId by, RunRef run, long epoch, String payload) throws Exception {
        Transacted transacted = stock.run(ticket(by, run, epoch), connection -> {
            take(connection, payload);
            return entry(payload);
        });
        return transacted instanceof Transacted.InDoubt(Transacted.Inquiry inquiry) ? inquiry.ask() : transacted;
    }

    private static TransactionTicket ticket(WorkerId by, RunRef run, long epoch) {
        return new TransactionTicket(
                by, Duration.ofSeconds(10), run, 1, epoch, POSITION, TransactionOptions.defaults());
    }

    private static Entry entry(String payload) {
        return new Entry(
                POSITION,
                Entry.ANSWER,
                Entry.Kind.TRANSACTION,
                "take",
                Entry.Status.VALUE,
                new Payload(payload.getBytes(StandardCharsets.UTF_8)));
    }

    /** A worker of another shard, from which the run has come, or to which it has gone. */
    private static WorkerId elsewhere() {
        return new WorkerId(UUID.randomUUID());
    }

    @Test
    void a_step_that_was_done_while_the_run_was_elsewhere_is_not_done_again_here() throws Exception {
        RunRef run = held();
        assertThat(step(elsewhere(), run, 1, "there")).isEqualTo(new Transacted.Completed(entry("there")));
        assertThat(step(worker, run, 1, "here")).isEqualTo(new Transacted.Completed(entry("there")));
        assertThat(count("stock")).isEqualTo(1);
        assertThat(count("perdure.journal WHERE position = 1")).isZero();
    }

    @Test
    void a_body_that_fails_because_the_step_was_done_elsewhere_does_not_fail_the_step() throws Exception {
        execute("ALTER TABLE stock ADD UNIQUE (run)");
        RunRef run = held();
        assertThat(step(elsewhere(), run, 1, "order")).isEqualTo(new Transacted.Completed(entry("order")));
        assertThat(step(worker, run, 1, "order")).isEqualTo(new Transacted.Completed(entry("order")));
        assertThat(count("stock")).isEqualTo(1);
    }

    @Test
    void a_body_that_fails_although_the_step_was_never_done_fails() throws Exception {
        execute("ALTER TABLE stock ADD UNIQUE (run)");
        execute("INSERT INTO stock VALUES ('order')");
        RunRef run = held();
        assertThatThrownBy(() -> step(worker, run, 1, "order"))
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("duplicate key");
        assertThat(step(worker, run, 1, "other")).isEqualTo(new Transacted.Recorded());
    }

    @Test
    void a_step_that_was_done_here_is_not_done_again_by_a_late_worker_elsewhere() throws Exception {
        RunRef run = held();
        assertThat(step(worker, run, 1, "here")).isEqualTo(new Transacted.Recorded());
        assertThat(count("perdure.journal WHERE position = 1")).isEqualTo(1);
        assertThat(step(elsewhere(), run, 1, "there")).isEqualTo(new Transacted.Completed(entry("here")));
        assertThat(count("stock")).isEqualTo(1);
    }

    @Test
    void a_worker_that_has_lost_the_run_does_nothing_here() throws Exception {
        RunRef run = held();
        assertThat(step(worker, run, 2, "late")).isEqualTo(new Transacted.Fenced());
        assertThat(count("stock")).isZero();
        assertThat(count("perdure.completion")).isZero();
    }

    @Test
    void a_run_whose_partition_moves_is_lost_to_its_worker_and_nothing_is_done() throws Exception {
        RunRef run = held();
        execute("ALTER TABLE perdure.journal ADD CONSTRAINT partition_is_here CHECK (false) NOT VALID");
        assertThat(step(worker, run, 1, "late")).isEqualTo(new Transacted.Fenced());
        assertThat(count("stock")).isZero();
        assertThat(count("perdure.completion")).isZero();
    }

    @Test
    void what_was_given_up_here_is_done_nowhere() throws Exception {
        RunRef run = held();
        Entry failure = entry("given up");
        assertThat(stock.giveUp(ticket(worker, run, 1), failure)).isEqualTo(failure);
        assertThat(step(worker, run, 1, "late")).isEqualTo(new Transacted.Completed(failure));
        assertThat(step(elsewhere(), run, 1, "late")).isEqualTo(new Transacted.Completed(failure));
        assertThat(count("stock")).isZero();
    }

    @Test
    void a_step_that_was_given_up_is_done_when_its_run_is_retried() throws Exception {
        RunRef run = held();
        Entry failure =
                new Entry(POSITION, Entry.ANSWER, Entry.Kind.TRANSACTION, "take", Entry.Status.FAILURE, Payload.EMPTY);
        stock.giveUp(ticket(worker, run, 0), failure);
        assertThat(step(worker, run, 1, "again")).isEqualTo(new Transacted.Recorded());
        assertThat(count("stock")).isEqualTo(1);
    }
}
