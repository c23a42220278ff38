package dev.perdure.postgres;

import static dev.perdure.postgres.StoreFixture.append;
import static dev.perdure.postgres.StoreFixture.complete;
import static dev.perdure.postgres.StoreFixture.newRun;
import static dev.perdure.postgres.StoreFixture.step;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Definition;
import dev.perdure.Perdure;
import dev.perdure.RunState;
import dev.perdure.spi.Change;
import dev.perdure.spi.Due;
import dev.perdure.spi.Lane;
import dev.perdure.spi.Move;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.RunRef;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What things cost on the wire and on the disk: round trips as the server sees them, and transactions that write. */
final class CostIT {
    private CountingProxy proxy;
    private HikariDataSource pool;
    private PostgresStore store;
    private StoreFixture fixture;

    /** Autovacuum takes transaction numbers too, whenever it likes. */
    @BeforeAll
    static void stopAutovacuum() {
        autovacuum("off");
        await().until(() -> TestServer.query(
                        "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'autovacuum worker'")
                .equals("0"));
    }

    @AfterAll
    static void startAutovacuum() {
        autovacuum("on");
    }

    private static void autovacuum(String mode) {
        TestServer.execute("ALTER SYSTEM SET autovacuum = " + mode);
        TestServer.execute("SELECT pg_reload_conf()");
    }

    @BeforeEach
    void open() {
        proxy = new CountingProxy();
        pool = TestServer.pool(proxy.source(), 3);
        store = PostgresStore.on(pool)
                .schema(TestServer.newSchema())
                .notifications(false)
                .open();
        fixture = new StoreFixture(store);
        // The driver splits executes by what it has learnt of their results, so everything is measured when it is warm.
        for (int i = 0; i < 10; i++) {
            RunRef run = fixture.start("warm-" + i);
            fixture.apply(append(run, 1));
            fixture.apply(complete(run));
        }
    }

    @AfterEach
    void close() {
        store.close();
        pool.close();
        proxy.close();
    }

    private record Cost(int roundTrips, long commits) {}

    private Cost costOf(Runnable work) {
        long before = transactions();
        proxy.reset();
        work.run();
        int roundTrips = proxy.roundTrips();
        return new Cost(roundTrips, transactions() - before);
    }

    /** Every transaction that writes takes a number. */
    private static long transactions() {
        return Long.parseLong(TestServer.query("SELECT pg_snapshot_xmax(pg_current_snapshot())"));
    }

    @Test
    void a_start_is_one_round_trip_and_one_commit() {
        assertThat(costOf(() -> fixture.start("a"))).isEqualTo(new Cost(1, 1));
    }

    @Test
    void an_append_is_one_round_trip_and_one_commit_and_one_statement() {
        RunRef run = fixture.start("a");
        assertThat(costOf(() -> fixture.apply(append(run, 1)))).isEqualTo(new Cost(1, 1));
        assertThat(proxy.statements()).isEqualTo(1);
    }

    @Test
    void a_completion_is_one_round_trip_and_one_commit() {
        RunRef run = fixture.start("a");
        assertThat(costOf(() -> fixture.apply(complete(run)))).isEqualTo(new Cost(1, 1));
    }

    @Test
    void a_thousand_appends_are_one_round_trip_and_one_commit() {
        List<RunRef> runs = fixture.startAll(
                IntStream.range(0, 1_000).mapToObj(i -> "run-" + i).toList());
        List<Change> appends = runs.stream().<Change>map(run -> append(run, 1)).toList();
        assertThat(costOf(() -> assertThat(fixture.apply(appends)).allMatch(Outcome.Applied.class::isInstance)))
                .isEqualTo(new Cost(1, 1));
    }

    @Test
    void a_mixed_batch_is_one_round_trip_and_one_commit_every_time() {
        for (int round = 0; round < 8; round++) {
            RunRef stays = fixture.start("stays-" + round);
            RunRef ends = fixture.start("ends-" + round);
            RunRef waits = fixture.start("waits-" + round);
            Move wait = new Move.Wait(RunState.SUSPENDED, new Due.In(Duration.ofHours(1)), 0);
            List<Change> batch = List.of(
                    append(stays, 1),
                    complete(ends),
                    new Change.Advance(waits, 1, List.of(step(1)), wait),
                    new Change.Start(newRun("new-" + round), fixture.worker),
                    new Change.Command(newRun("none").id(), Change.Order.CANCEL, "x"));
            assertThat(costOf(() -> fixture.apply(batch))).isEqualTo(new Cost(1, 1));
        }
    }

    @Test
    void an_idle_poll_is_one_round_trip_and_a_claim_is_two() {
        for (int round = 0; round < 8; round++) {
            assertThat(costOf(() -> store.dispatch().poll(fixture.poll(10))).roundTrips())
                    .isEqualTo(1);
        }
        store.ledger().apply(Lane.client(0), List.of(new Change.Start(newRun("a"), null)));
        assertThat(costOf(() -> store.dispatch().poll(fixture.poll(10)))).isEqualTo(new Cost(2, 1));
    }

    @Test
    void an_idle_sweep_is_one_round_trip_and_writes_nothing() {
        store.leases().sweep(10);
        assertThat(costOf(() -> store.leases().sweep(10))).isEqualTo(new Cost(1, 0));
    }

    /** Three for each run; the rest is the lease and the poll, which go by time and not by runs. */
    @Test
    void an_engine_makes_three_round_trips_for_a_run_of_one_step_and_looks_for_nothing_meanwhile() {
        Definition<Integer, Integer> one =
                Definition.of("one", Integer.class, Integer.class, (ctx, in) -> ctx.step("same", () -> in));
        int runs = 500;
        try (Perdure perdure = Perdure.on(store).register(one).start()) {
            perdure.start(one, 0).result();
            proxy.reset();
            for (int i = 0; i < runs; i++) {
                perdure.start(one, i).result();
            }
            assertThat(proxy.roundTrips()).isBetween(3 * runs, 3 * runs + runs / 2);
        }
    }
}
