package dev.perdure.postgres;

import static dev.perdure.postgres.StoreFixture.append;
import static dev.perdure.postgres.StoreFixture.complete;
import static dev.perdure.postgres.StoreFixture.newRun;
import static dev.perdure.postgres.StoreFixture.step;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunState;
import dev.perdure.StartKey;
import dev.perdure.attribute.AttributeValue;
import dev.perdure.attribute.Description;
import dev.perdure.queue.Queue;
import dev.perdure.spi.Dispatch;
import dev.perdure.spi.Mailboxes;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Transacted;
import dev.perdure.spi.TransactionTicket;
import dev.perdure.spi.change.Admission;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Due;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.RunRef;
import dev.perdure.transaction.TransactionOptions;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What changes of single runs, mail, polls and transaction steps cost. */
final class CostIT extends CostMeasurement {
    /** Begin, settings, lock the key, look for the id, read the key, start, name the run, commit. */
    private static final int KEYED = 8;
    /** Begin, settings, lock the places, look for the id, count the places, start, commit. */
    private static final int PLACED = 7;

    @Test
    void a_start_is_one_round_trip_and_one_commit() {
        assertThat(costOf(() -> fixture.start("a"))).isEqualTo(new Cost(1, 1));
        assertThat(proxy.statements()).isEqualTo(1);
    }

    @Test
    void a_start_with_attributes_and_a_change_of_them_are_one_round_trip_and_one_commit() {
        AttributeValue value = new AttributeValue.Text("c-7");
        NewRun described = newRun("described").describedAs(Description.NONE.with("customer", value));
        Change start = new Change.Start(described, fixture.worker);
        assertThat(costOf(() -> fixture.apply(start))).isEqualTo(new Cost(1, 1));
        // Settings, start, and the row of the attribute.
        assertThat(proxy.statements()).isEqualTo(3);
        RunRef run = store.runs().find(described.id()).orElseThrow().ref();
        List<Effect> effects = List.of(new Effect.SetAttribute("customer", null), new Effect.SetStatus("Packs"));
        Change change = new Change.Advance(run, 1, List.of(step(1)), effects, new Move.Stay());
        assertThat(costOf(() -> fixture.apply(change))).isEqualTo(new Cost(1, 1));
    }

    @Test
    void a_start_under_a_key_is_one_commit_and_so_is_one_in_a_queue_that_may_refuse_it() {
        NewRun keyed = newRun("keyed").withAdmission(Admission.UNCONDITIONAL.withKey(StartKey.deduplicate("k"), false));
        costOf(() -> store.ledger().apply(Lane.client(0), List.of(new Change.Start(keyed, null))));
        NewRun next =
                newRun("next").withAdmission(Admission.UNCONDITIONAL.withKey(StartKey.deduplicate("other"), false));
        Cost cost = costOf(() -> store.ledger().apply(Lane.client(0), List.of(new Change.Start(next, null))));
        assertThat(cost.commits()).isEqualTo(1);
        assertThat(cost.roundTrips()).isEqualTo(KEYED);

        store.queues().declare(List.of(Queue.named("narrow").perKey(1).whenKeyFull(Queue.WhenKeyFull.REFUSE)));
        NewRun placed = inQueue("placed").withQueueKey("x");
        Cost refusing = costOf(() -> store.ledger().apply(Lane.client(0), List.of(new Change.Start(placed, null))));
        assertThat(refusing.commits()).isEqualTo(1);
        assertThat(refusing.roundTrips()).isEqualTo(PLACED);
    }

    private static NewRun inQueue(String id) {
        NewRun run = newRun(id);
        return new NewRun(run.id(), run.definition(), run.input(), run.seed(), "narrow", 0, null, null);
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
        // Settings and end: no run waits for it, so none is looked for.
        assertThat(proxy.statements()).isEqualTo(2);
    }

    @Test
    void a_wait_is_one_round_trip_and_one_commit_alone_and_beside_others() {
        for (int round = 0; round < 3; round++) {
            List<RunRef> runs = fixture.startAll(List.of("a" + round, "b" + round, "c" + round));
            assertThat(costOf(() -> fixture.apply(StoreFixture.await(runs.get(0), Channel.message("news")))))
                    .isEqualTo(new Cost(1, 1));
            // Settings and wait: the run is neither locked nor looked up first.
            assertThat(proxy.statements()).isEqualTo(2);
            assertThat(costOf(() -> fixture.apply(
                            List.of(StoreFixture.await(runs.get(1), Channel.message("news")), complete(runs.get(2))))))
                    .isEqualTo(new Cost(1, 1));
            // And both locked in one pass before one waits and one ends.
            assertThat(proxy.statements()).isEqualTo(4);
        }
    }

    @Test
    void a_delivery_is_one_round_trip_and_one_commit_every_time() {
        for (int round = 0; round < 8; round++) {
            RunRef waits = fixture.start("waits-" + round);
            fixture.apply(StoreFixture.await(waits, Channel.message("news")));
            assertThat(costOf(() -> allReady(List.of(StoreFixture.message(waits, "news")))))
                    .isEqualTo(new Cost(1, 1));
        }
    }

    private void allReady(List<Change> deliveries) {
        assertThat(store.ledger().apply(Lane.client(0), deliveries))
                .allSatisfy(outcome -> assertThat(outcome)
                        .isInstanceOfSatisfying(
                                Outcome.Applied.class,
                                applied -> assertThat(applied.state()).isEqualTo(RunState.READY)));
    }

    @Test
    void a_thousand_deliveries_to_a_thousand_waiting_runs_are_one_round_trip_and_one_commit() {
        List<RunRef> runs = fixture.startAll(
                IntStream.range(0, 1_000).mapToObj(i -> "run-" + i).toList());
        fixture.apply(runs.stream()
                .<Change>map(run -> StoreFixture.await(run, Channel.message("news")))
                .toList());
        List<Change> deliveries = runs.stream()
                .<Change>map(run -> StoreFixture.message(run, "news"))
                .toList();
        assertThat(costOf(() -> allReady(deliveries))).isEqualTo(new Cost(1, 1));
    }

    @Test
    void the_end_of_a_child_with_a_waiting_parent_is_one_round_trip_and_one_commit_every_time() {
        for (int round = 0; round < 8; round++) {
            RunRef parent = fixture.start("parent-" + round);
            NewRun child = StoreFixture.child(parent, "child-" + round, 1);
            RunRef started = ((Outcome.Started) fixture.apply(new Change.Start(child, fixture.worker))).run();
            fixture.apply(StoreFixture.await(parent, Channel.answer(1)));
            assertThat(costOf(() -> fixture.apply(complete(started)))).isEqualTo(new Cost(1, 1));
            assertThat(store.runs().find(parent.id()).orElseThrow().info().state())
                    .isEqualTo(RunState.READY);
        }
    }

    @Test
    void a_transition_with_every_effect_is_one_round_trip_and_one_commit_every_time() {
        for (int round = 0; round < 8; round++) {
            RunRef run = fixture.start("acts-" + round);
            RunRef other = fixture.start("other-" + round);
            List<Effect> effects = List.of(
                    new Effect.Start(StoreFixture.child(run, "child-" + round, 1)),
                    new Effect.Deliver(
                            other.id(), StoreFixture.message(other, "news").mail()),
                    new Effect.Cancel(other.id(), "why"),
                    new Effect.Take(1),
                    new Effect.Publish("progress", 2, StoreFixture.json("1")),
                    new Effect.Awakeable("hash-" + round, 3),
                    new Effect.Subscribe("paid", "42", 4));
            Move restart = new Move.Restart(StoreFixture.json("2"), 2);
            assertThat(costOf(() -> fixture.apply(new Change.Advance(run, 1, List.of(step(1)), effects, restart))))
                    .isEqualTo(new Cost(1, 1));
        }
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
                    new Change.Command(newRun("none").id(), Change.CommandKind.CANCEL, "x"));
            assertThat(costOf(() -> fixture.apply(batch))).isEqualTo(new Cost(1, 1));
        }
    }

    @Test
    void a_poll_is_one_round_trip_whether_it_finds_something_or_not() {
        for (int round = 0; round < 8; round++) {
            assertThat(costOf(() -> store.dispatch().poll(fixture.poll(10))).roundTrips())
                    .isEqualTo(1);
            store.ledger().apply(Lane.client(0), List.of(new Change.Start(newRun("a-" + round), null)));
            assertThat(costOf(() -> store.dispatch().poll(fixture.poll(10)))).isEqualTo(new Cost(1, 1));
        }
    }

    @Test
    void a_poll_claims_from_a_full_queue_once() {
        store.queues().declare(List.of(Queue.named("narrow").concurrency(1)));
        store.ledger()
                .apply(
                        Lane.client(0),
                        List.of(new Change.Start(inQueue("first"), null), new Change.Start(inQueue("second"), null)));
        Dispatch.Poll poll = new Dispatch.Poll(
                fixture.worker, Set.of(inQueue("first").definition()), Set.of("narrow"), "", 10, false);
        assertThat(store.dispatch().poll(poll).claimed()).hasSize(1);
        // The claim, the poll for everything else, and the look for other queues in which runs wait.
        assertThat(costOf(() -> assertThat(store.dispatch().poll(poll).claimed())
                                .isEmpty())
                        .roundTrips())
                .isEqualTo(3);
    }

    @Test
    void a_transaction_step_is_one_transaction_and_one_round_trip_more_than_its_body() {
        PostgresTransactions transactions = PostgresTransactions.on(store, pool);
        for (int round = 0; round < 8; round++) {
            RunRef run = fixture.start("transaction-" + round);
            Cost bodyAlone = costOf(this::bodyAlone);
            Cost step = costOf(() -> assertThat(transact(transactions, run)).isEqualTo(new Transacted.Recorded()));
            if (round >= 5) { // the driver knows the shapes
                assertThat(step).isEqualTo(new Cost(bodyAlone.roundTrips() + 1, 1));
            }
            assertThat(store.journals().read(run, 0, 100).entries()).hasSize(1);
        }
    }

    private Transacted transact(PostgresTransactions transactions, RunRef run) {
        TransactionTicket ticket = new TransactionTicket(
                fixture.worker,
                Duration.ofSeconds(10),
                run,
                0,
                Outcome.Started.FIRST_EPOCH,
                1,
                TransactionOptions.isolation(TransactionOptions.Isolation.SERIALIZABLE));
        try {
            return transactions.run(ticket, connection -> {
                body(connection);
                return step(1);
            });
        } catch (Exception thrown) {
            throw new IllegalStateException(thrown);
        }
    }

    private static void body(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("SELECT pg_current_xact_id()");
        }
    }

    private void bodyAlone() {
        try (Connection connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            body(connection);
            connection.commit();
        } catch (SQLException thrown) {
            throw new IllegalStateException(thrown);
        }
    }

    @Test
    void an_idle_sweep_is_one_round_trip_and_writes_nothing() {
        store.leases().sweep(10);
        assertThat(costOf(() -> store.leases().sweep(10))).isEqualTo(new Cost(1, 0));
    }

    @Test
    void a_delivery_to_a_run_in_memory_is_one_round_trip_and_one_commit_as_soon_as_one_was_met_there() {
        RunRef held = fixture.start("held");
        for (int round = 0; round < 8; round++) {
            Change.Deliver delivery = StoreFixture.message(held, "news-" + round);
            assertThat(costOf(() -> store.ledger().apply(Lane.client(0), List.of(delivery))))
                    .isEqualTo(new Cost(1, 1));
            assertThat(proxy.statements()).isEqualTo(round == 0 ? 3 : 2);
        }
        assertThat(store.mailboxes().unread(held, 0, 1_000_000)).hasSize(8);
    }

    @Test
    void the_end_of_a_child_whose_parent_is_in_memory_is_two_statements_as_soon_as_one_was_met_there() {
        for (int round = 0; round < 8; round++) {
            RunRef parent = fixture.start("parent-" + round);
            NewRun child = StoreFixture.child(parent, "child-" + round, 1);
            RunRef started = ((Outcome.Started) fixture.apply(new Change.Start(child, fixture.worker))).run();
            assertThat(costOf(() -> fixture.apply(complete(started)))).isEqualTo(new Cost(1, 1));
            assertThat(proxy.statements()).isEqualTo(round == 0 ? 4 : 2);
            assertThat(store.mailboxes().unread(parent, 0, 1_000_000)).hasSize(1);
        }
    }

    @Test
    void all_callers_that_wait_for_published_values_are_one_round_trip() {
        List<RunRef> runs = fixture.startAll(
                IntStream.range(0, 100).mapToObj(i -> "run-" + i).toList());
        List<Mailboxes.Place> places = runs.stream()
                .map(run -> new Mailboxes.Place(run, "progress", 0))
                .toList();
        List<Mailboxes.Promised> promises =
                runs.stream().map(run -> new Mailboxes.Promised(run, "paid")).toList();
        assertThat(costOf(() -> assertThat(store.mailboxes().published(places, 10, 1_000))
                        .isEmpty()))
                .isEqualTo(new Cost(1, 0));
        assertThat(costOf(() -> assertThat(store.mailboxes().promises(promises)).isEmpty()))
                .isEqualTo(new Cost(1, 0));
    }
}
