package dev.perdure.conformance.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.conformance.StoreConformance;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.ObjectCall.Hold;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Calls of a virtual object that begin and end in one batch, behind one that the batch ends. */
public abstract class CompletedCallConformance extends StoreConformance {
    private static final ObjectKey CART = new ObjectKey("cart", "user-1");

    /** For subclasses. */
    protected CompletedCallConformance() {}

    private static NewRun call(String id) {
        return newRun(id).on(new ObjectCall(CART, Hold.EXCLUSIVE));
    }

    private RunRef started(WorkerId worker, String id) {
        return ((Outcome.Started) apply(worker, new Change.Start(call(id), worker))).run();
    }

    private static Change.Advance end(RunRef run, Effect... effects) {
        Move end = new Move.End(RunState.COMPLETED, payload("\"" + run.id() + "\""), "", 64);
        return new Change.Advance(run, 1, List.of(), List.of(effects), end);
    }

    private static Change.CompletedCall completed(String id, String follows, Effect... effects) {
        Move.End end = new Move.End(RunState.COMPLETED, payload("\"" + id + "\""), "");
        Entry entry = new Entry(1, 0, Entry.Kind.EFFECT, "set state", Entry.Status.VALUE, Payload.EMPTY);
        return new Change.CompletedCall(call(id), List.of(entry), List.of(effects), end, RunId.of(follows));
    }

    private List<Outcome> applyAll(WorkerId worker, Change... changes) {
        return store().ledger().apply(new Lane(worker, 0), List.of(changes));
    }

    private static Effect set(String name, String value) {
        return new Effect.SetState(name, payload(value));
    }

    private Map<String, String> state() {
        return store().states().readAll(CART).entrySet().stream()
                .collect(Collectors.toMap(
                        Map.Entry::getKey, value -> new String(value.getValue().bytes(), StandardCharsets.UTF_8)));
    }

    private RunRef ref(String id) {
        return store().runs().find(RunId.of(id)).orElseThrow().ref();
    }

    private boolean isThere(String id) {
        return store().runs().find(RunId.of(id)).isPresent();
    }

    @Test
    void calls_begin_and_end_behind_one_that_ends() {
        WorkerId worker = join();
        RunRef holder = started(worker, "holder");
        List<Outcome> outcomes = applyAll(
                worker,
                end(holder, set("a", "0"), set("b", "0")),
                completed("first", "holder", set("a", "1"), set("c", "1")),
                completed("second", "first", set("a", "2"), new Effect.ClearState("c")));
        assertThat(outcomes).allMatch(Outcome.Applied.class::isInstance);
        assertThat(state()).isEqualTo(Map.of("a", "2", "b", "0"));
        assertThat(changesOf(ref("second"))).containsExactly("RUNNING", "COMPLETED");
        assertThat(store().runs().ended(List.of(ref("first"), ref("second"))))
                .extracting(Runs.Ended::outcome)
                .containsExactlyInAnyOrder(payload("\"first\""), payload("\"second\""));
        assertThat(store().journals().read(ref("second"), 0, 1000).entries())
                .extracting(recorded -> recorded.entry().name())
                .containsExactly("set state");
        assertThat(store().leases().owned(worker)).isEmpty();
        assertThat(((Outcome.Started) apply(worker, new Change.Start(call("next"), worker))).owned())
                .isTrue();
    }

    @Test
    void a_call_that_is_named_may_wait_beside_them_and_holds_the_object_afterwards() {
        WorkerId worker = join();
        RunRef holder = started(worker, "holder");
        RunRef waits = started(worker, "waits");
        RunRef waitsToo = started(worker, "waits-too");
        List<Outcome> outcomes = applyAll(
                worker,
                end(holder, set("a", "0")),
                beside(completed("first", "holder", set("a", "1")), "waits", "waits-too"),
                beside(completed("second", "first", set("a", "2")), "waits", "waits-too"));
        assertThat(outcomes).allMatch(Outcome.Applied.class::isInstance);
        Outcome.Applied ended = (Outcome.Applied) outcomes.getFirst();
        assertThat(ended.handed()).extracting(handed -> handed.run()).containsExactly(waits);
        assertThat(ended.next()).extracting(next -> next.run()).containsExactly(waitsToo);
        assertThat(state()).isEqualTo(Map.of("a", "2"));
        assertThat(stateOf(waits)).isEqualTo(RunState.RUNNING);
    }

    @Test
    void a_call_that_is_not_named_goes_first_also_beside_one_that_is() {
        WorkerId worker = join();
        RunRef holder = started(worker, "holder");
        RunRef unnamed = started(worker, "unnamed");
        started(worker, "named");
        List<Outcome> outcomes = applyAll(
                worker, end(holder, set("a", "0")), beside(completed("first", "holder", set("a", "1")), "named"));
        assertThat(outcomes.getLast()).isInstanceOf(Outcome.Fenced.class);
        assertThat(((Outcome.Applied) outcomes.getFirst()).handed())
                .extracting(handed -> handed.run())
                .containsExactly(unnamed);
        assertThat(state()).isEqualTo(Map.of("a", "0"));
    }

    private static Change.CompletedCall beside(Change.CompletedCall call, String... named) {
        Set<RunId> ids = Stream.of(named).map(RunId::of).collect(Collectors.toSet());
        return new Change.CompletedCall(call.run(), call.entries(), call.effects(), call.end(), call.follows(), ids);
    }

    @Test
    void one_that_is_started_with_them_holds_the_object_afterwards() {
        WorkerId worker = join();
        RunRef holder = started(worker, "holder");
        List<Outcome> outcomes = applyAll(
                worker,
                end(holder),
                completed("first", "holder", set("a", "1")),
                new Change.Start(call("next"), worker));
        assertThat(outcomes.get(1)).isInstanceOf(Outcome.Applied.class);
        assertThat(stateOf(ref("next"))).isEqualTo(RunState.RUNNING);
        assertThat(store().leases().owned(worker))
                .extracting(owned -> owned.run().id(), owned -> owned.epoch())
                .containsExactly(tuple(RunId.of("next"), 1L));
        boolean born = ((Outcome.Started) outcomes.get(2)).owned();
        List<RunRef> handed = ((Outcome.Applied) outcomes.get(0))
                .handed().stream().map(Claimed::run).toList();
        assertThat(handed).isEqualTo(born ? List.of() : List.of(ref("next")));
    }

    @Test
    void none_goes_before_one_that_waits() {
        WorkerId worker = join();
        RunRef holder = started(worker, "holder");
        RunRef waiting = started(worker, "waiting");
        List<Outcome> outcomes = applyAll(
                worker,
                end(holder, set("a", "0")),
                completed("first", "holder", set("a", "1")),
                completed("second", "first", set("a", "2")));
        assertThat(outcomes.get(0)).isInstanceOf(Outcome.Applied.class);
        assertThat(outcomes.subList(1, 3)).allMatch(Outcome.Fenced.class::isInstance);
        assertThat(isThere("first")).isFalse();
        assertThat(state()).isEqualTo(Map.of("a", "0"));
        assertThat(stateOf(waiting)).isEqualTo(RunState.RUNNING);
    }

    @Test
    void they_follow_one_that_itself_ends_ahead_of_its_turn() {
        WorkerId worker = join();
        RunRef holder = started(worker, "holder");
        RunRef waiting = started(worker, "waiting");
        Move end = new Move.End(RunState.COMPLETED, payload("1"), "", 1, holder);
        Change.Advance ahead = new Change.Advance(waiting, 1, List.of(), List.of(set("a", "1")), end);
        assertThat(applyAll(worker, end(holder, set("a", "0")), ahead, completed("first", "waiting", set("b", "2"))))
                .allMatch(Outcome.Applied.class::isInstance);
        assertThat(state()).isEqualTo(Map.of("a", "1", "b", "2"));
    }

    @Test
    void none_follows_one_whose_end_is_not_applied() {
        WorkerId worker = join();
        RunRef holder = started(worker, "holder");
        RunRef waiting = started(worker, "waiting");
        command(waiting, Change.CommandKind.CANCEL, "not wanted");
        Move end = new Move.End(RunState.COMPLETED, payload("1"), "", 1, holder);
        Change.Advance ahead = new Change.Advance(waiting, 1, List.of(), List.of(set("a", "1")), end);
        List<Outcome> outcomes = applyAll(worker, end(holder), ahead, completed("first", "waiting", set("a", "2")));
        assertThat(outcomes.subList(1, 3)).allMatch(Outcome.Fenced.class::isInstance);
        assertThat(isThere("first")).isFalse();
        assertThat(state()).isEmpty();
    }

    @Test
    void a_batch_that_does_not_end_the_call_before_adds_none() {
        WorkerId worker = join();
        WorkerId other = join();
        RunRef holder = started(worker, "holder");
        assertThat(applyAll(other, end(holder), completed("first", "holder", set("a", "1"))))
                .allMatch(Outcome.Fenced.class::isInstance);
        assertThat(apply(worker, completed("first", "holder", set("a", "1")))).isInstanceOf(Outcome.Fenced.class);
        apply(worker, end(holder));
        assertThat(apply(worker, completed("first", "holder", set("a", "1")))).isInstanceOf(Outcome.Fenced.class);
        RunRef next = started(worker, "next");
        store().leases().leave(worker);
        assertThat(applyAll(worker, end(next), completed("first", "next", set("a", "1"))))
                .allMatch(Outcome.Fenced.class::isInstance);
        assertThat(isThere("first")).isFalse();
        assertThat(state()).isEmpty();
    }

    @Test
    void a_batch_whose_answer_was_lost_knows_itself_again() {
        WorkerId worker = join();
        RunRef holder = started(worker, "holder");
        Change[] batch = {
            end(holder, set("a", "0")),
            completed("first", "holder", set("a", "1")),
            completed("second", "first", set("a", "2")),
            new Change.Start(call("next"), worker)
        };
        applyAll(worker, batch);
        RunRef next = ref("next");
        List<Outcome> again = applyAll(worker, batch);
        assertThat(again.subList(0, 3)).allMatch(Outcome.AlreadyThere.class::isInstance);
        assertThat(again.get(3)).isInstanceOfSatisfying(Outcome.Started.class, started -> {
            assertThat(started.run()).isEqualTo(next);
            assertThat(started.owned()).isTrue();
        });
        assertThat(state()).isEqualTo(Map.of("a", "2"));
    }

    @Test
    void each_object_has_its_own() {
        WorkerId worker = join();
        ObjectKey other = new ObjectKey("cart", "user-2");
        RunRef holder = started(worker, "holder");
        RunRef otherHolder = ((Outcome.Started) apply(
                        worker, new Change.Start(newRun("other").on(new ObjectCall(other, Hold.EXCLUSIVE)), worker)))
                .run();
        started(worker, "waiting");
        Change.CompletedCall first = completed("first", "other", set("a", "1"));
        NewRun moved = first.run().on(new ObjectCall(other, Hold.EXCLUSIVE));
        List<Outcome> outcomes = applyAll(
                worker,
                end(holder),
                completed("second", "holder", set("a", "2")),
                end(otherHolder),
                new Change.CompletedCall(moved, first.entries(), first.effects(), first.end(), first.follows()));
        assertThat(outcomes.get(1)).isInstanceOf(Outcome.Fenced.class);
        assertThat(outcomes.get(3)).isInstanceOf(Outcome.Applied.class);
        assertThat(state()).isEmpty();
        assertThat(store().states().readAll(other)).containsKey("a");
    }
}
