package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.postgres.hint.PostgresHints;
import dev.perdure.postgres.jdbc.Connections;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.jdbc.Script;
import dev.perdure.postgres.lane.Backends;
import dev.perdure.postgres.lane.LeaseSql;
import dev.perdure.postgres.lane.Sender;
import dev.perdure.postgres.lane.Workers;
import dev.perdure.postgres.queue.PostgresQueues;
import dev.perdure.postgres.write.Beliefs;
import dev.perdure.postgres.write.LookedUpPlan;
import dev.perdure.postgres.write.PostgresLedger;
import dev.perdure.postgres.write.WriteContext;
import dev.perdure.postgres.write.change.Batch;
import dev.perdure.postgres.write.change.Keys;
import dev.perdure.postgres.write.part.LedgerSql;
import dev.perdure.postgres.write.part.ReadBack;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.ObjectCall.Hold;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.RunRef;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Cycles of calls whose makers died before they could look for them. */
final class CallCycleSweepIT {
    private final AtomicReference<Instant> now = new AtomicReference<>(Instant.parse("2026-01-01T00:00:00Z"));
    private HikariDataSource pool;
    private PostgresStore store;
    private StoreFixture fixture;
    private Database database;
    private LedgerSql sql;
    private Workers workers;
    private Keys keys;
    private PostgresLedger ledger;
    private PostgresQueues queues;
    private final PostgresHints hints = new PostgresHints();

    @BeforeEach
    void open() throws Exception {
        Schema schema = new Schema(TestServer.newSchema());
        pool = TestServer.pool(6);
        store = PostgresStore.on(pool)
                .schema(schema.name())
                .notifications(false)
                .open();
        fixture = new StoreFixture(store);
        database = new Database(Connections.from(pool, 4), now::get);
        sql = new LedgerSql(schema);
        workers = new Workers(database, new LeaseSql(schema), new Backends(schema, System::nanoTime));
        keys = new Keys(schema, database);
        queues = new PostgresQueues(database, schema);
        ledger = new PostgresLedger(database, schema, new LedgerSql(schema), keys, workers, queues, hints, true);
    }

    @AfterEach
    void close() {
        store.close();
        pool.close();
    }

    private static NewRun call(String id, String key) {
        return StoreFixture.newRun(id).on(new ObjectCall(new ObjectKey("account", key), Hold.EXCLUSIVE));
    }

    private RunRef holder(String key) {
        Change start = new Change.Start(call("holds-" + key, key), fixture.worker);
        Outcome outcome =
                ledger.apply(new Lane(fixture.worker, 0), List.of(start)).getFirst();
        return ((Outcome.Started) outcome).run();
    }

    /** The holder calls another object and waits; the process that made the call does not look for a cycle. */
    private Callable<List<Outcome>> calling(RunRef holder, int lane, String key) {
        NewRun callee = call(holder.id() + "-calls-" + key, key)
                .withParent(StoreFixture.child(holder, "unused", 1).parent());
        Change change = new Change.Advance(
                holder, 1, List.of(StoreFixture.step(1)), List.of(new Effect.Start(callee)), StoreFixture.STAY);
        int worker = Objects.requireNonNull(workers.number(fixture.worker));
        WriteContext context = new WriteContext(
                database, sql, new Script(), new ReadBack(database, sql), hints, new Beliefs(), queues);
        Sender sender = new Sender(worker, lane);
        return () -> new LookedUpPlan(context, sender, new Batch(List.of(change), keys), false).outcomes();
    }

    private List<RunState> statesOf(String... ids) {
        return Stream.of(ids)
                .map(id -> store.runs().find(RunId.of(id)).orElseThrow().info().state())
                .toList();
    }

    @Test
    void two_cycles_closed_at_the_same_moment_are_found_by_the_sweep_and_broken_once_each() throws Exception {
        List<RunRef> holders = Stream.of("a", "b", "c", "d").map(this::holder).toList();
        List<Callable<List<Outcome>>> calls = List.of(
                calling(holders.get(0), 0, "b"),
                calling(holders.get(1), 1, "a"),
                calling(holders.get(2), 2, "d"),
                calling(holders.get(3), 3, "c"));
        try (ExecutorService threads = Executors.newFixedThreadPool(calls.size())) {
            for (Future<List<Outcome>> made : threads.invokeAll(calls)) {
                assertThat(made.get()).allMatch(Outcome.Applied.class::isInstance);
            }
        }
        String[] first = {"holds-a-calls-b", "holds-b-calls-a"};
        String[] second = {"holds-c-calls-d", "holds-d-calls-c"};
        ledger.breakOldCycles();
        assertThat(statesOf(first)).as("too young to be looked for").containsOnly(RunState.PENDING);

        now.updateAndGet(time -> time.plusSeconds(2));
        ledger.breakOldCycles();
        assertThat(statesOf(first)).containsExactlyInAnyOrder(RunState.FAILED, RunState.PENDING);
        assertThat(statesOf(second)).containsExactlyInAnyOrder(RunState.FAILED, RunState.PENDING);
        ledger.breakOldCycles();
        assertThat(statesOf(first)).containsOnlyOnce(RunState.FAILED);
        assertThat(statesOf(second)).containsOnlyOnce(RunState.FAILED);
    }
}
