package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.postgres.write.BelievedBatch;
import dev.perdure.postgres.write.OneChangePlan;
import dev.perdure.postgres.write.Planner;
import dev.perdure.postgres.write.PostgresLedger;
import dev.perdure.spi.Dispatch;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Awaited;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Due;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Parent;
import dev.perdure.spi.change.RunRef;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the short ways of {@link BelievedBatch} and {@link OneChangePlan} do when things are not as they hope. */
final class BelievedBatchIT {
    private String schema;
    private HikariDataSource pool;
    private PostgresStore store;
    private StoreFixture fixture;
    private Lane lane;

    @BeforeEach
    void open() throws Exception {
        schema = TestServer.schemaOf(BelievedBatchIT.class);
        pool = TestServer.pool(6);
        store = PostgresStore.on(pool).schema(schema).notifications(false).open();
        fixture = new StoreFixture(store);
        lane = new Lane(fixture.worker, 0);
    }

    @AfterEach
    void close() {
        store.close();
        pool.close();
    }

    private List<Outcome> apply(Change... changes) {
        return store.ledger().apply(lane, List.of(changes));
    }

    private String rows(String table, String columns, RunRef run, String order) {
        return TestServer.query("SELECT string_agg(ROW(%s)::text, ';' ORDER BY %s) FROM %s.%s WHERE key = %d"
                .formatted(columns, order, schema, table, run.key()));
    }

    private String leftBehind(RunRef run) {
        return String.join(
                "\n",
                rows(
                        "run",
                        "epoch, owner, priority, definition, queue, version, deadline, wake_at, wakes, changes, state, reason, ran_at IS NULL",
                        run,
                        "key"),
                rows("journal", "position, note, kind, status, name, payload", run, "position"),
                rows("held", "worker, woken", run, "key"),
                rows("event", "number, state, reason", run, "number"));
    }

    private Change start(String id) {
        return new Change.Start(StoreFixture.newRun(id), fixture.worker);
    }

    private RunRef started(String id) {
        return startedOf(apply(start(id)).getFirst());
    }

    private List<RunState> statesOf(RunRef... runs) {
        return Stream.of(runs)
                .map(run -> store.runs().find(run.id()).orElseThrow().info().state())
                .toList();
    }

    @Test
    void leave_the_same_behind_as_the_long_way() {
        RunRef alone = started("alone");
        RunRef together = startedOf(apply(start("together"), start("others")).getFirst());
        RunRef longWay = startedOf(apply(start("long-way"), notPlain("a")).getFirst());
        assertThat(leftBehind(alone)).isEqualTo(leftBehind(longWay));
        assertThat(leftBehind(together)).isEqualTo(leftBehind(longWay));

        apply(StoreFixture.append(alone, 1));
        apply(StoreFixture.append(together, 1), start("b"));
        apply(StoreFixture.append(longWay, 1), notPlain("c"));
        apply(StoreFixture.complete(alone));
        apply(StoreFixture.complete(together), start("d"));
        apply(StoreFixture.complete(longWay), notPlain("e"));
        assertThat(leftBehind(alone)).isEqualTo(leftBehind(longWay));
        assertThat(leftBehind(together)).isEqualTo(leftBehind(longWay));
    }

    @Test
    void a_client_enqueues_one_as_it_enqueues_several() {
        List<RunRef> ready = Stream.of(List.of("alone"), List.of("one", "two"))
                .map(ids -> ids.stream()
                        .<Change>map(id -> new Change.Start(StoreFixture.newRun(id), null))
                        .toList())
                .map(starts -> store.ledger().apply(Lane.client(0), starts).getFirst())
                .map(BelievedBatchIT::startedOf)
                .toList();
        assertThat(leftBehind(ready.getFirst())).isEqualTo(leftBehind(ready.getLast()));
        String queued = "rank, alone, queue, definition, version";
        assertThat(rows("ready", queued, ready.getFirst(), "key"))
                .isEqualTo(rows("ready", queued, ready.getLast(), "key"))
                .isNotEqualTo("null");
        assertThat(store.dispatch().poll(fixture.poll(10)).claimed())
                .extracting(claimed -> claimed.run().id().value())
                .containsExactly("alone", "one", "two");
    }

    /** One that was claimed has left a state before, of which no row tells but its own. */
    @Test
    void tell_what_a_claimed_run_was_as_the_long_way_does() {
        List<RunRef> claimed = Stream.of("alone", "together", "long-way")
                .map(id -> {
                    apply(new Change.Start(StoreFixture.newRun(id), null));
                    return store.dispatch()
                            .poll(fixture.poll(1))
                            .claimed()
                            .getFirst()
                            .run();
                })
                .toList();
        apply(StoreFixture.complete(claimed.get(0)));
        apply(StoreFixture.complete(claimed.get(1)), start("a"));
        apply(StoreFixture.complete(claimed.get(2)), notPlain("b"));
        assertThat(TestServer.query("SELECT string_agg(state, ' ' ORDER BY number) FROM %s.events WHERE id = 'long-way'"
                        .formatted(schema)))
                .isEqualTo("READY RUNNING COMPLETED");
        assertThat(leftBehind(claimed.get(0))).isEqualTo(leftBehind(claimed.get(2)));
        assertThat(leftBehind(claimed.get(1))).isEqualTo(leftBehind(claimed.get(2)));
    }

    @Test
    void waits_leave_the_same_behind_as_the_long_way() {
        List<RunRef> runs = List.of(started("alone"), started("together"), started("long-way"));
        for (int round = 1; round <= 2; round++) {
            apply(waiting(runs.get(0), round));
            apply(waiting(runs.get(1), round), start("a" + round));
            apply(waiting(runs.get(2), round), notPlain("b" + round));
            assertThat(runs).extracting(this::waitingLeftBehind).containsOnly(waitingLeftBehind(runs.get(2)));
            assertThat(statesOf(runs.toArray(RunRef[]::new))).containsOnly(RunState.SUSPENDED);
            assertThat(store.dispatch().poll(fixture.poll(10)).claimed())
                    .extracting(Dispatch.Claimed::run)
                    .containsAll(runs);
        }
        assertThat(runs)
                .extracting(run -> history(run.id()))
                .containsOnly("RUNNING SUSPENDED READY ".repeat(2) + "RUNNING");
    }

    /** As a schedule does. */
    @Test
    void a_run_that_waits_takes_mail_and_starts_runs_that_report_to_it_by_the_short_way() {
        List<RunRef> runs = List.of(started("alone"), started("together"), started("long-way"));
        runs.forEach(run -> store.ledger().apply(Lane.client(0), List.of(StoreFixture.message(run, "due"))));
        Planner.Counts before = ((PostgresLedger) store.ledger()).plans();
        apply(firing(runs.get(0)));
        apply(firing(runs.get(1)), start("a"));
        Planner.Counts after = ((PostgresLedger) store.ledger()).plans();
        assertThat(after.believed() - before.believed()).isEqualTo(2);
        assertThat(after.lookedUp()).isEqualTo(before.lookedUp());
        apply(firing(runs.get(2)), notPlain("b"));
        assertThat(((PostgresLedger) store.ledger()).plans().lookedUp()).isEqualTo(before.lookedUp() + 1);

        assertThat(runs).extracting(this::waitingLeftBehind).containsOnly(waitingLeftBehind(runs.get(2)));
        assertThat(runs).extracting(this::firedLeftBehind).containsOnly(firedLeftBehind(runs.get(2)));
        assertThat(runs)
                .allSatisfy(
                        run -> assertThat(rows("mail", "taken", run, "number")).isEqualTo("(t)"));
    }

    private String firedLeftBehind(RunRef starter) {
        RunRef fired = store.runs()
                .find(RunId.of(starter.id() + "@1"))
                .orElseThrow(AssertionError::new)
                .ref();
        return String.join(
                "\n",
                leftBehind(fired),
                rows(
                        "run",
                        "parent = %d, parent_position, parent_restarts, mails".formatted(starter.key()),
                        fired,
                        "key"),
                rows("ready", "rank, alone, queue, definition, version, queue_key", fired, "key"),
                rows(
                        "mail",
                        "number, position, restarts, channel, status, name, text, payload, taken",
                        fired,
                        "number"));
    }

    private static Change firing(RunRef run) {
        NewRun fired = StoreFixture.newRun(run.id() + "@1").withParent(Parent.reporting(run));
        Mail why = Mail.value(Channel.promise("why"), UUID.randomUUID(), StoreFixture.json("1"));
        return new Change.Advance(
                run,
                1,
                List.of(StoreFixture.step(1)),
                List.of(new Effect.Take(1), new Effect.Start(fired, List.of(), List.of(why))),
                new Move.Wait(
                        RunState.SUSPENDED,
                        new Due.At(Instant.parse("2026-01-01T00:00:00Z")),
                        new Awaited(Set.of(Channel.message("news")), 1),
                        1));
    }

    private String waitingLeftBehind(RunRef run) {
        return String.join(
                "\n",
                leftBehind(run),
                rows("run", "needed, awaited, awaited_names", run, "key"),
                rows("timer", "due_at", run, "due_at"),
                history(run.id()));
    }

    private String history(RunId run) {
        return TestServer.query("SELECT string_agg(state, ' ' ORDER BY number) FROM %s.events WHERE id = '%s'"
                .formatted(schema, run.value()));
    }

    /** Waits for a time that is over, under the epoch of the round. */
    private static Change waiting(RunRef run, int round) {
        Awaited awaited = new Awaited(Set.of(Channel.message("news")), 1);
        Due due = new Due.At(Instant.parse("2026-01-01T00:00:00Z"));
        return new Change.Advance(
                run, round, List.of(StoreFixture.step(round)), new Move.Wait(RunState.SUSPENDED, due, awaited, 0));
    }

    @Test
    void one_that_was_woken_stays_and_the_others_wait() {
        RunRef woken = started("woken");
        RunRef other = started("other");
        store.ledger()
                .apply(Lane.client(0), List.of(new Change.Command(woken.id(), Change.CommandKind.CANCEL, "enough")));
        List<Outcome> outcomes = apply(waiting(woken, 1), waiting(other, 1));
        assertThat(outcomes.get(0)).isInstanceOf(Outcome.Woken.class);
        assertThat(outcomes.get(1)).isInstanceOf(Outcome.Applied.class);
        assertThat(statesOf(woken, other)).containsExactly(RunState.RUNNING, RunState.SUSPENDED);
        assertThat(rows("held", "key = %d".formatted(woken.key()), woken, "key"))
                .isEqualTo("(t)");
    }

    @Test
    void a_recovered_run_that_has_done_something_before_it_waits_is_forgiven() {
        RunRef alone = started("alone");
        RunRef longWay = started("long-way");
        TestServer.execute("UPDATE %s.run SET recoveries = 2".formatted(schema));
        assertThat(apply(waiting(alone, 1)).getFirst()).isInstanceOf(Outcome.Applied.class);
        apply(waiting(longWay, 1), notPlain("a"));
        assertThat(rows("run", "recoveries, state", longWay, "key")).isEqualTo("(0,3)");
        assertThat(waitingLeftBehind(alone)).isEqualTo(waitingLeftBehind(longWay));
        assertThat(rows("run", "recoveries, state", alone, "key")).isEqualTo("(0,3)");
    }

    /** The wake-up is not committed yet when the run goes to wait: it is not lost. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_wait_meets_a_wake_up_that_another_transaction_is_about_to_commit(boolean alone) throws Exception {
        RunRef woken = started("woken");
        RunRef other = started("other");
        try (ExecutorService executor = Executors.newSingleThreadExecutor();
                Connection rival = pool.getConnection()) {
            rival.setAutoCommit(false);
            try (PreparedStatement wake = rival.prepareStatement(
                    "UPDATE %s.run SET wakes = wakes + 1 WHERE id = 'woken'".formatted(schema))) {
                assertThat(wake.executeUpdate()).isEqualTo(1);
            }
            List<Change> waits = alone ? List.of(waiting(woken, 1)) : List.of(waiting(woken, 1), waiting(other, 1));
            Future<List<Outcome>> waiting = executor.submit(() -> fixture.applyPatiently(waits));
            TestServer.awaitBlocked();
            rival.commit();
            assertThat(waiting.get().getFirst()).isInstanceOf(Outcome.Woken.class);
        }
        assertThat(statesOf(woken)).containsExactly(RunState.RUNNING);
    }

    /** What makes the batch that it is in take the long way. */
    private Change notPlain(String id) {
        return new Change.Start(StoreFixture.newRun(id), null);
    }

    private static RunRef startedOf(Outcome outcome) {
        return ((Outcome.Started) outcome).run();
    }

    @Test
    void a_run_that_was_there_before_spoils_nothing_for_those_in_the_same_batch() {
        RunRef old = started("old");
        for (int round = 0; round < 3; round++) {
            List<Outcome> outcomes = apply(start("new-" + round), start("old"), start("other-" + round));
            assertThat(outcomes.get(0)).isInstanceOf(Outcome.Started.class);
            assertThat(outcomes.get(2)).isInstanceOf(Outcome.Started.class);
            assertThat(outcomes.get(1))
                    .isInstanceOfSatisfying(
                            Outcome.Started.class,
                            again -> assertThat(again.run()).isEqualTo(old));
        }
        assertThat(apply(start("last"), start("but-one")))
                .allSatisfy(outcome -> assertThat(outcome).isInstanceOf(Outcome.Started.class));
    }

    @Test
    void what_was_applied_before_is_known_again_and_the_rest_of_the_batch_is_applied() {
        RunRef ended = started("ended");
        RunRef appended = started("appended");
        RunRef ending = started("ending");
        apply(StoreFixture.complete(ended), StoreFixture.append(appended, 1));
        List<Outcome> outcomes = apply(
                StoreFixture.complete(ended),
                StoreFixture.append(appended, 1),
                StoreFixture.complete(ending),
                start("new"));
        assertThat(outcomes.get(0)).isInstanceOf(Outcome.AlreadyThere.class);
        assertThat(outcomes.get(1)).isInstanceOf(Outcome.AlreadyThere.class);
        assertThat(outcomes.get(2)).isInstanceOf(Outcome.Applied.class);
        assertThat(outcomes.get(3)).isInstanceOf(Outcome.Started.class);
        assertThat(statesOf(ended, ending)).containsOnly(RunState.COMPLETED);
    }

    @Test
    void the_end_of_a_run_of_another_epoch_is_refused_and_changes_nothing() {
        RunRef mine = started("mine");
        RunRef lost = started("lost");
        Change.Advance end = StoreFixture.complete(lost);
        Change late = new Change.Advance(lost, 7, end.entries(), end.move());
        assertThat(apply(late)).containsExactly(new Outcome.Fenced());
        List<Outcome> outcomes = apply(StoreFixture.complete(mine), late);
        assertThat(outcomes.get(0)).isInstanceOf(Outcome.Applied.class);
        assertThat(outcomes.get(1)).isEqualTo(new Outcome.Fenced());
        assertThat(statesOf(mine, lost)).containsExactly(RunState.COMPLETED, RunState.RUNNING);
    }

    /** The call that waits arrives in a batch of free calls, so that the next batch still hopes that objects are free. */
    @Test
    void the_end_of_a_known_call_hands_its_object_to_a_call_that_has_arrived_since() {
        List<Outcome> first = apply(call("a-1", "a"), call("b-1", "b"));
        List<Outcome> second = apply(call("a-2", "a"), call("c-1", "c"), call("d-1", "d"));
        RunRef waiting = startedOf(second.getFirst());
        assertThat(statesOf(waiting)).containsExactly(RunState.PENDING);

        Planner.Counts before = plans();
        List<Outcome> ends = apply(
                StoreFixture.complete(startedOf(first.get(0))),
                StoreFixture.complete(startedOf(first.get(1))),
                StoreFixture.complete(startedOf(second.get(1))),
                StoreFixture.complete(startedOf(second.get(2))));
        assertThat(ends).allMatch(Outcome.Applied.class::isInstance);
        assertThat(plans().wrong()).as("batches of which a part was skipped").isEqualTo(before.wrong() + 1);
        assertThat(statesOf(waiting)).containsExactly(RunState.READY);
        assertThat(TestServer.query("SELECT string_agg(key, ',' ORDER BY key) FROM %s.object WHERE holder IS NULL"
                        .formatted(schema)))
                .isEqualTo("b,c,d");
    }

    private Change call(String id, String key) {
        ObjectCall cart = new ObjectCall(new ObjectKey("cart", key), ObjectCall.Hold.EXCLUSIVE);
        return new Change.Start(StoreFixture.newRun(id).on(cart), fixture.worker);
    }

    private Planner.Counts plans() {
        return ((PostgresLedger) store.ledger()).plans();
    }

    @Test
    void a_worker_without_lanes_does_nothing_by_them() throws Exception {
        RunRef appending = started("appending");
        RunRef ending = started("ending");
        RunRef resting = started("resting");
        TestServer.execute("DELETE FROM %s.lane".formatted(schema));
        assertThat(apply(waiting(resting, 1))).containsExactly(new Outcome.Fenced());
        assertThat(apply(waiting(resting, 1), StoreFixture.complete(ending))).containsOnly(new Outcome.Fenced());
        assertThat(apply(start("new"), StoreFixture.append(appending, 1), StoreFixture.complete(ending)))
                .containsOnly(new Outcome.Fenced());
        assertThat(apply(start("new"))).containsExactly(new Outcome.Fenced());
        assertThat(apply(StoreFixture.append(appending, 1))).containsExactly(new Outcome.Fenced());
        assertThat(apply(StoreFixture.complete(ending))).containsExactly(new Outcome.Fenced());
        assertThat(store.runs().find(RunId.of("new"))).isEmpty();
        assertThat(statesOf(appending, ending, resting)).containsOnly(RunState.RUNNING);
    }

    /**
     * Another transaction has the run's row and has raised its wake count when its end comes: the end waits and keeps
     * that count.
     */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void an_end_meets_a_row_that_another_transaction_is_changing(boolean alone) throws Exception {
        RunRef woken = started("woken");
        RunRef other = started("other");
        try (ExecutorService executor = Executors.newSingleThreadExecutor();
                Connection rival = pool.getConnection()) {
            rival.setAutoCommit(false);
            try (PreparedStatement wake = rival.prepareStatement(
                    "UPDATE %s.run SET wakes = wakes + 1, cancel = 'enough' WHERE id = 'woken'".formatted(schema))) {
                assertThat(wake.executeUpdate()).isEqualTo(1);
            }
            Future<List<Outcome>> ends = executor.submit(() -> alone
                    ? fixture.applyPatiently(List.of(StoreFixture.complete(woken)))
                    : fixture.applyPatiently(List.of(StoreFixture.complete(other), StoreFixture.complete(woken))));
            TestServer.awaitBlocked();
            rival.commit();
            assertThat(ends.get()).allSatisfy(outcome -> assertThat(outcome).isInstanceOf(Outcome.Applied.class));
        }
        assertThat(statesOf(woken)).containsExactly(RunState.COMPLETED);
        assertThat(rows("run", "wakes, cancel", woken, "key")).isEqualTo("(1,enough)");
        assertThat(rows("held", "key", woken, "key")).isEqualTo("null");
    }
}
