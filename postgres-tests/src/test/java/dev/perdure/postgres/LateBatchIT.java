package dev.perdure.postgres;

import static dev.perdure.postgres.StoreFixture.append;
import static dev.perdure.postgres.StoreFixture.complete;
import static dev.perdure.postgres.StoreFixture.json;
import static dev.perdure.postgres.StoreFixture.newRun;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.RunState;
import dev.perdure.error.StoreException;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Leases;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Change.CommandKind;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What was given up and sent again arrives after all. Nothing of the first copy takes effect once the second has been
 * answered, whatever the run, its object or a person did since.
 */
final class LateBatchIT {
    private static final Lane CLIENT = Lane.client(0);

    private String schema;
    private HoldingProxy proxy;
    private PostgresStore store;
    private StoreFixture fixture;

    @BeforeEach
    void open() {
        schema = TestServer.schemaOf(LateBatchIT.class);
        proxy = new HoldingProxy();
        store = PostgresStore.on(proxy.source())
                .schema(schema)
                .notifications(false)
                .open();
        fixture = new StoreFixture(store);
    }

    @AfterEach
    void close() {
        store.close();
        proxy.close();
    }

    private static void assertUnanswered(ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        StoreException.class, e -> assertThat(e.kind()).isEqualTo(StoreException.Kind.UNAVAILABLE));
    }

    private HoldingProxy.Held heldBack(ThrowingCallable call) {
        HoldingProxy.Held held = proxy.holdNext();
        assertUnanswered(call);
        return held;
    }

    private String stateOf(String id) {
        return TestServer.query("SELECT state FROM %s.runs WHERE id = '%s'".formatted(schema, id));
    }

    @Test
    void an_entry_does_not_land_in_the_journal_of_the_next_round() throws Exception {
        RunRef run = fixture.start("a");
        HoldingProxy.Held first = heldBack(() -> fixture.apply(append(run, 1)));

        assertThat(fixture.apply(append(run, 1))).isInstanceOf(Outcome.Applied.class);
        assertThat(fixture.apply(new Change.Advance(run, 1, List.of(), new Move.Restart(json("2"), 7))))
                .isInstanceOf(Outcome.Applied.class);
        first.deliver();

        assertThat(store.journals().read(run, 0, 1_000).entries()).isEmpty();
        Claimed again = store.dispatch().poll(fixture.poll(1)).claimed().getFirst();
        Change.Advance next = new Change.Advance(run, again.epoch(), List.of(StoreFixture.step(1)), StoreFixture.STAY);
        assertThat(fixture.apply(next))
                .as("the lane that took the other's place works on")
                .isInstanceOf(Outcome.Applied.class);
    }

    @Test
    void the_state_of_an_object_does_not_fall_back() throws Exception {
        ObjectKey cart = new ObjectKey("cart", "1");
        ObjectCall call = new ObjectCall(cart, ObjectCall.Hold.EXCLUSIVE);
        RunRef one =
                ((Outcome.Started) fixture.apply(new Change.Start(newRun("one").on(call), fixture.worker))).run();
        Change.Advance sets = new Change.Advance(
                one, 1, List.of(), List.of(new Effect.SetState("items", json("1"))), StoreFixture.STAY);
        HoldingProxy.Held first = heldBack(() -> fixture.apply(sets));

        assertThat(fixture.apply(List.of(sets))).allMatch(Outcome.Applied.class::isInstance);
        fixture.apply(complete(one));
        RunRef two =
                ((Outcome.Started) fixture.apply(new Change.Start(newRun("two").on(call), fixture.worker))).run();
        fixture.apply(new Change.Advance(
                two,
                1,
                List.of(),
                List.of(new Effect.SetState("items", json("2"))),
                complete(two).move()));
        first.deliver();

        assertThat(store.states().read(cart, "items")).hasValue(json("2"));
    }

    @Test
    void a_poll_claims_nothing_for_a_worker_that_has_asked_what_it_holds_since() throws Exception {
        HoldingProxy.Held first = heldBack(() -> store.dispatch().poll(fixture.poll(10)));
        assertThat(store.leases().owned(fixture.worker)).isEmpty();
        store.ledger().apply(CLIENT, List.of(new Change.Start(newRun("a"), null)));
        first.deliver();

        assertThat(store.leases().owned(fixture.worker)).isEmpty();
        assertThat(store.dispatch().poll(fixture.poll(10)).claimed()).hasSize(1);
    }

    @Test
    void a_retired_lane_stays_so_if_its_retirement_or_the_join_comes_twice() throws Exception {
        RunRef run = fixture.start("a");
        WorkerId late = new WorkerId(UUID.randomUUID());
        Leases.Joining joining = new Leases.Joining(late, Set.of("order"), null, Duration.ofMinutes(10), 1);
        HoldingProxy.Held join = heldBack(() -> store.leases().join(joining));
        store.leases().join(joining);
        Lane lane = new Lane(late, 0);
        Change start = new Change.Start(newRun("late"), late);
        HoldingProxy.Held batch = heldBack(() -> store.ledger().apply(lane, List.of(start)));
        HoldingProxy.Held retirement = heldBack(() -> store.ledger().apply(lane, List.of(start)));

        RunRef started =
                ((Outcome.Started) store.ledger().apply(lane, List.of(start)).getFirst()).run();
        assertThat(store.ledger().apply(lane, List.of(complete(started)))).allMatch(Outcome.Applied.class::isInstance);
        TestServer.execute("DELETE FROM %1$s.journal; DELETE FROM %1$s.run WHERE id = 'late'".formatted(schema));
        retirement.deliver();
        join.deliver();
        batch.deliver();

        assertThat(stateOf("late"))
                .as("the run, deleted so that only a late start can bring it")
                .isEmpty();
        assertThat(store.ledger().apply(lane, List.of(start))).allMatch(Outcome.Started.class::isInstance);
        assertThat(run).isNotNull();
    }

    @Test
    void a_copy_that_is_being_carried_out_is_waited_for() throws Exception {
        RunRef run = fixture.start("a");
        try (Connection other = TestServer.plain().getConnection();
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute(
                    "INSERT INTO %s.journal SELECT key, 1, 0, partition, now(), 1, 0, 'other', '1' FROM %s.run"
                            .formatted(schema, schema));
            assertUnanswered(() -> fixture.apply(append(run, 1))); // it waits for that entry
            assertUnanswered(() -> fixture.apply(append(run, 1))); // and this for it
            other.rollback();
        }
        // The server may have given up both by then.
        assertThat(fixture.applyPatiently(List.of(append(run, 1))).getFirst())
                .isInstanceOfAny(Outcome.AlreadyThere.class, Outcome.Applied.class);
        assertThat(store.journals().read(run, 0, 1_000).entries())
                .extracting(recorded -> recorded.entry().name())
                .containsExactly("charge");
    }

    @Test
    void a_command_from_outside_is_not_carried_out_again_after_another() throws Exception {
        fixture.store.ledger().apply(CLIENT, List.of(new Change.Start(newRun("a"), null)));
        List<Change> pause = List.of(new Change.Command(newRun("a").id(), CommandKind.PAUSE, "because"));
        HoldingProxy.Held first = heldBack(() -> store.ledger().apply(CLIENT, pause));

        store.ledger().apply(CLIENT, pause);
        assertThat(stateOf("a")).isEqualTo(RunState.PAUSED.name());
        store.ledger().apply(CLIENT, List.of(new Change.Command(newRun("a").id(), CommandKind.RESUME, "")));
        first.deliver();

        assertThat(stateOf("a")).isEqualTo(RunState.READY.name());
    }
}
