package dev.perdure.postgres;

import static dev.perdure.postgres.StoreFixture.append;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.RunChange;
import dev.perdure.RunState;
import dev.perdure.error.StoreException;
import dev.perdure.postgres.jdbc.Codes;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Due;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.sql.Connection;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The fence with real transactions held open in between, and batches that the server does not take whole. */
final class FenceIT {
    private static final Executor VIRTUAL = task -> Thread.ofVirtual().start(task);

    private String schema;
    private HikariDataSource pool;
    private PostgresStore store;
    private StoreFixture fixture;

    @BeforeEach
    void open() {
        schema = TestServer.schemaOf(FenceIT.class);
        pool = TestServer.pool(5);
        store = PostgresStore.on(pool).schema(schema).notifications(false).open();
        fixture = new StoreFixture(store);
    }

    @AfterEach
    void close() {
        store.close();
        pool.close();
    }

    @Test
    void the_sweep_waits_for_a_batch_in_flight_and_sees_what_it_wrote() throws Exception {
        RunRef run = fixture.start("a");
        CompletableFuture<List<RunChange>> swept;
        try (Connection batch = TestServer.plain().getConnection();
                Statement statement = batch.createStatement()) {
            batch.setAutoCommit(false);
            statement.execute("SELECT FROM %s.lane WHERE number = 0 FOR KEY SHARE".formatted(schema));
            statement.execute(
                    "INSERT INTO %s.journal SELECT key, 1, 0, partition, now(), 1, 0, 'charge', '1' FROM %s.run"
                            .formatted(schema, schema));
            swept = CompletableFuture.supplyAsync(
                    () -> {
                        store.leases().leave(fixture.worker);
                        return store.leases().sweep(10);
                    },
                    VIRTUAL);
            TestServer.awaitBlocked();
            assertThat(swept).isNotDone();
            batch.commit();
        }

        assertThat(swept.get(5, TimeUnit.SECONDS)).extracting(RunChange::runId).containsExactly(run.id());
        assertThat(store.journals().read(run, 0, 100).entries()).hasSize(1);
        assertThat(TestServer.query("SELECT entries_at_recovery FROM %s.run".formatted(schema)))
                .isEqualTo("1");
    }

    @Test
    void a_batch_that_hangs_holds_up_the_burial_of_its_own_worker_only() throws Exception {
        RunRef run = fixture.start("a");
        String hanging = joinAnother();
        expireAll();
        try (Connection batch = TestServer.plain().getConnection();
                Statement statement = batch.createStatement()) {
            batch.setAutoCommit(false);
            statement.execute("SELECT FROM %s.lane WHERE worker = %s FOR KEY SHARE".formatted(schema, hanging));

            assertThat(store.leases().sweep(10)).extracting(RunChange::runId).containsExactly(run.id());
            assertThat(workersWithLanes()).isEqualTo(hanging);
            batch.rollback();
        }
        store.leases().sweep(10);
        assertThat(workersWithLanes()).isEmpty();
    }

    @Test
    void the_sweep_waits_for_a_batch_that_does_not_hang() throws Exception {
        RunRef run = fixture.start("a");
        expireAll();
        CompletableFuture<List<RunChange>> swept;
        try (Connection batch = TestServer.plain().getConnection();
                Statement statement = batch.createStatement()) {
            batch.setAutoCommit(false);
            statement.execute("SELECT FROM %s.lane FOR KEY SHARE".formatted(schema));
            swept = CompletableFuture.supplyAsync(() -> store.leases().sweep(10), VIRTUAL);
            TestServer.awaitBlocked();
            assertThat(swept).isNotDone();
            batch.commit();
        }
        assertThat(swept.get(5, TimeUnit.SECONDS)).extracting(RunChange::runId).containsExactly(run.id());
    }

    /** The number of a second worker. */
    private String joinAnother() {
        WorkerId id = new StoreFixture(store).worker;
        return TestServer.query("SELECT number FROM %s.worker WHERE id = '%s'".formatted(schema, id));
    }

    private void expireAll() {
        TestServer.execute("UPDATE %s.worker SET expires_at = now() - interval '1 second'".formatted(schema));
    }

    private String workersWithLanes() {
        return TestServer.query("SELECT DISTINCT worker FROM %s.lane".formatted(schema));
    }

    /** Each by its own statements. */
    enum What {
        AN_ENTRY,
        A_START,
        AN_END,
        PLAIN_CHANGES,
        A_DAG,
        AN_END_OF_A_TASK,
        ENDS_OF_TASKS,
        A_CALL,
        FREE_CALLS,
        A_WAIT,
        A_WAIT_THE_LONG_WAY
    }

    private List<Change> changes(What what, RunRef run, RunRef other) {
        Change start = new Change.Start(StoreFixture.newRun("new"), fixture.worker);
        Change call = new Change.Start(StoreFixture.newRun("call").on(cart("free")), fixture.worker);
        Change wait = new Change.Advance(
                run, 1, List.of(StoreFixture.step(1)), new Move.Wait(RunState.SUSPENDED, new Due.Never(), 0));
        return switch (what) {
            case AN_ENTRY -> List.of(append(run, 1));
            case A_START -> List.of(start);
            case AN_END -> List.of(StoreFixture.complete(run));
            case PLAIN_CHANGES -> List.of(start, StoreFixture.complete(run), StoreFixture.complete(other));
            case A_DAG -> List.of(StoreFixture.line("dag", fixture.worker));
            case AN_END_OF_A_TASK -> List.of(StoreFixture.completeAndGoOn(firstTask("dag")));
            case ENDS_OF_TASKS ->
                List.of(
                        StoreFixture.completeAndGoOn(firstTask("dag")),
                        StoreFixture.completeAndGoOn(firstTask("another")),
                        StoreFixture.complete(run));
            case A_CALL -> List.of(call);
            case FREE_CALLS -> List.of(call, StoreFixture.complete(run), StoreFixture.complete(other));
            case A_WAIT -> List.of(wait);
            case A_WAIT_THE_LONG_WAY -> List.of(wait, new Change.Start(StoreFixture.newRun("queued"), null));
        };
    }

    private Claimed firstTask(String dag) {
        Outcome started = fixture.apply(StoreFixture.line(dag, fixture.worker));
        return ((Outcome.Started) started).handed().getFirst();
    }

    /** All that a batch could have written. */
    private String rows() {
        return TestServer.query("""
                SELECT (SELECT count(*) FROM %1$s.journal) || ' ' || (SELECT string_agg(r::text, ' ' ORDER BY key) FROM %1$s.run r)
                    || ' ' || (SELECT string_agg(h::text, ' ' ORDER BY key) FROM %1$s.held h)
                """.formatted(schema));
    }

    private static ObjectCall cart(String key) {
        return new ObjectCall(new ObjectKey("cart", key), ObjectCall.Hold.EXCLUSIVE);
    }

    private RunRef startFor(What what, String id) {
        NewRun run = StoreFixture.newRun(id);
        Change start = new Change.Start(what == What.FREE_CALLS ? run.on(cart(id)) : run, fixture.worker);
        return ((Outcome.Started) fixture.apply(start)).run();
    }

    @ParameterizedTest
    @EnumSource
    void a_batch_waits_for_the_sweep_in_flight_and_is_fenced(What what) throws Exception {
        List<Change> changes = changes(what, startFor(what, "a"), startFor(what, "b"));
        String before = rows();
        CompletableFuture<List<Outcome>> applied;
        try (Connection sweep = TestServer.plain().getConnection();
                Statement statement = sweep.createStatement()) {
            sweep.setAutoCommit(false);
            statement.execute("UPDATE %s.worker SET dead = true".formatted(schema));
            statement.execute("DELETE FROM %s.lane".formatted(schema));
            applied = CompletableFuture.supplyAsync(() -> fixture.applyPatiently(changes), VIRTUAL);
            TestServer.awaitBlocked();
            assertThat(applied).isNotDone();
            sweep.commit();
        }

        assertThat(applied.get(5, TimeUnit.SECONDS)).containsOnly(new Outcome.Fenced());
        assertThat(rows()).isEqualTo(before);
        assertThat(TestServer.query("SELECT count(*) FROM %s.object WHERE key = 'free'".formatted(schema)))
                .isEqualTo("0");
    }

    /**
     * The end that frees an object has looked for waiting calls; then a call arrives, and only then the end gets the
     * row.
     */
    @Test
    void a_call_that_arrives_while_its_object_is_freed_is_not_left_behind() throws Exception {
        RunRef holder = startFor(What.FREE_CALLS, "a");
        RunRef comes = ((Outcome.Started) fixture.apply(new Change.Start(StoreFixture.newRun("comes"), null))).run();
        CompletableFuture<List<Outcome>> applied;
        try (Connection arrival = TestServer.plain().getConnection();
                Statement statement = arrival.createStatement()) {
            arrival.setAutoCommit(false);
            for (String sql : List.of(
                    "UPDATE %s.object SET arrivals = 1 WHERE key = 'a'",
                    "INSERT INTO %s.object_call SELECT " + comes.key()
                            + ", 1, partition, hold, object_type, object_key FROM %1$s.object_call WHERE object_key = 'a'",
                    "DELETE FROM %s.ready",
                    "UPDATE %s.run SET state = " + Codes.of(RunState.PENDING) + " WHERE id = 'comes'")) {
                statement.execute(sql.formatted(schema));
            }
            applied = CompletableFuture.supplyAsync(
                    () -> fixture.applyPatiently(List.of(StoreFixture.complete(holder))), VIRTUAL);
            TestServer.awaitBlocked();
            arrival.commit();
        }
        assertThat(applied.get(5, TimeUnit.SECONDS)).allMatch(Outcome.Applied.class::isInstance);
        assertThat(TestServer.query("SELECT holder FROM %s.object WHERE key = 'a'".formatted(schema)))
                .isEqualTo(String.valueOf(comes.key()));
        assertThat(TestServer.query("SELECT state FROM %s.run WHERE id = 'comes'".formatted(schema)))
                .isEqualTo(String.valueOf(Codes.of(RunState.READY)));
    }

    @Test
    void a_change_that_the_server_refuses_does_not_fail_its_neighbours() {
        List<RunRef> runs = fixture.startAll(List.of("a", "b", "c", "d", "e"));
        Entry nul = new Entry(1, 0, Entry.Kind.STEP, "char\0ge", Entry.Status.VALUE, StoreFixture.json("1"));
        Entry beyond = new Entry(1, 40_000, Entry.Kind.STEP, "charge", Entry.Status.ATTEMPT, StoreFixture.json("1"));

        List<Outcome> outcomes = fixture.apply(List.of(
                append(runs.get(0), 1),
                new Change.Advance(runs.get(1), 1, List.of(nul), StoreFixture.STAY),
                append(runs.get(2), 1),
                new Change.Advance(runs.get(3), 1, List.of(beyond), StoreFixture.STAY),
                StoreFixture.complete(runs.get(4))));

        assertThat(outcomes.get(1)).isInstanceOf(Outcome.Refused.class);
        assertThat(outcomes.get(3)).isInstanceOf(Outcome.Refused.class);
        assertThat(List.of(outcomes.get(0), outcomes.get(2), outcomes.get(4)))
                .allMatch(Outcome.Applied.class::isInstance);
    }

    @Test
    void a_locked_run_does_not_hold_up_its_neighbours() throws Exception {
        List<RunRef> runs = fixture.startAll(List.of("a", "b", "c"));
        List<Change> ends = runs.stream().<Change>map(StoreFixture::complete).toList();
        try (Connection holder = TestServer.plain().getConnection();
                Statement statement = holder.createStatement()) {
            holder.setAutoCommit(false);
            statement.execute("SELECT FROM %s.run WHERE id = 'b' FOR UPDATE".formatted(schema));

            assertThatThrownBy(() -> fixture.apply(ends))
                    .isInstanceOfSatisfying(
                            StoreException.class, e -> assertThat(e.kind()).isEqualTo(StoreException.Kind.UNAVAILABLE));
            assertThat(store.runs().ended(runs)).hasSize(2);
            holder.rollback();
        }
        List<Outcome> again = fixture.apply(ends);
        assertThat(again.get(0)).isInstanceOf(Outcome.AlreadyThere.class);
        assertThat(again.get(1)).isInstanceOf(Outcome.Applied.class);
    }
}
