package dev.perdure.conformance.object;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunState;
import dev.perdure.conformance.StoreConformance;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.ObjectCall.Hold;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Calls of a virtual object that end ahead of their turns, in one batch with those before them. */
public abstract class CallPipelineConformance extends StoreConformance {
    private static final ObjectKey CART = new ObjectKey("cart", "user-1");

    /** For subclasses. */
    protected CallPipelineConformance() {}

    private static NewRun call(String id) {
        return newRun(id).on(new ObjectCall(CART, Hold.EXCLUSIVE));
    }

    /** Calls that have arrived in this order; the first holds the object. */
    private List<RunRef> calls(WorkerId worker, int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> apply(worker, new Change.Start(call("call-" + i), worker)))
                .map(outcome -> ((Outcome.Started) outcome).run())
                .toList();
    }

    private static Change.Advance end(RunRef run, int takes, Effect... effects) {
        return end(run, 1, takes, null, effects);
    }

    private static Change.Advance end(RunRef run, long epoch, int takes, @Nullable RunRef follows, Effect... effects) {
        Move end = new Move.End(RunState.COMPLETED, payload("\"" + run.id() + "\""), "", takes, follows);
        return new Change.Advance(run, epoch, List.of(), List.of(effects), end);
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

    /** Who was handed over by these outcomes and does not end in the same batch. */
    private static List<RunRef> handed(List<Outcome> outcomes, RunRef... ended) {
        List<RunRef> handed = new ArrayList<>();
        outcomes.forEach(outcome -> {
            if (outcome instanceof Outcome.Applied applied) {
                applied.handed().forEach(claim -> handed.add(claim.run()));
            }
        });
        handed.removeAll(List.of(ended));
        return handed;
    }

    @Test
    void an_end_shows_the_calls_that_wait_behind_the_one_handed_over() {
        WorkerId worker = join();
        List<RunRef> calls = calls(worker, 6);
        Outcome.Applied applied = (Outcome.Applied) apply(worker, end(calls.get(0), 4));
        assertThat(applied.handed()).extracting(Claimed::run).containsExactly(calls.get(1));
        assertThat(applied.next()).extracting(Claimed::run).containsExactly(calls.get(2), calls.get(3), calls.get(4));
        assertThat(applied.next()).allSatisfy(next -> {
            assertThat(next.epoch()).isEqualTo(1);
            assertThat(next.object()).isEqualTo(new ObjectCall(CART, Hold.EXCLUSIVE));
            assertThat(next.input())
                    .isEqualTo(payload("\"input of " + next.run().id() + "\""));
        });
        assertThat(stateOf(calls.get(2))).isEqualTo(RunState.PENDING);
    }

    @Test
    void only_those_are_shown_that_the_worker_could_run_one_after_another() {
        WorkerId worker = join();
        List<RunRef> calls = calls(worker, 3);
        NewRun foreign = withDefinition(newRun("foreign"), "other").on(new ObjectCall(CART, Hold.EXCLUSIVE));
        apply(worker, new Change.Start(foreign, null));
        apply(worker, new Change.Start(call("behind"), null));
        Outcome.Applied applied = (Outcome.Applied) apply(worker, end(calls.get(0), 64));
        assertThat(applied.next()).extracting(Claimed::run).containsExactly(calls.get(2));
        assertThat(join(Set.of("other"), null)).isNotEqualTo(worker);
    }

    @Test
    void calls_that_follow_one_another_end_in_one_batch() {
        WorkerId worker = join();
        List<RunRef> calls = calls(worker, 5);
        List<Outcome> outcomes = applyAll(
                worker,
                end(calls.get(0), 1),
                end(calls.get(1), 1, 1, calls.get(0)),
                end(calls.get(2), 1, 2, calls.get(1)));
        assertThat(outcomes).allMatch(Outcome.Applied.class::isInstance);
        assertThat(changesOf(calls.get(2))).containsExactly("PENDING", "RUNNING", "COMPLETED");
        assertThat(handed(outcomes, calls.get(1), calls.get(2))).containsExactly(calls.get(3));
        assertThat(stateOf(calls.get(3))).isEqualTo(RunState.RUNNING);
        assertThat(stateOf(calls.get(4))).isEqualTo(RunState.PENDING);
        assertThat(store().leases().owned(worker))
                .extracting(owned -> owned.run())
                .containsExactly(calls.get(3));
        assertThat(store().runs().ended(calls.subList(0, 3)))
                .extracting(ended -> ended.outcome())
                .containsExactlyInAnyOrder(payload("\"call-0\""), payload("\"call-1\""), payload("\"call-2\""));
    }

    @Test
    void of_several_ends_in_one_batch_the_state_is_what_the_last_one_left() {
        WorkerId worker = join();
        List<RunRef> calls = calls(worker, 4);
        applyAll(
                worker,
                end(calls.get(0), 1, set("a", "0"), set("b", "0"), set("c", "0")),
                end(calls.get(1), 1, 1, calls.get(0), set("a", "1"), new Effect.ClearState("c")),
                end(calls.get(2), 1, 1, calls.get(1), set("b", "2")));
        assertThat(state()).isEqualTo(Map.of("a", "1", "b", "2"));
        applyAll(
                worker,
                end(calls.get(3), 1, set("a", "3"), new Effect.ClearAllState(), set("d", "3")),
                new Change.Start(call("call-4"), worker));
        assertThat(state()).isEqualTo(Map.of("d", "3"));
    }

    @Test
    void what_was_cleared_in_between_stays_cleared() {
        WorkerId worker = join();
        List<RunRef> calls = calls(worker, 3);
        applyAll(
                worker,
                end(calls.get(0), 1, set("a", "0"), set("b", "0")),
                end(calls.get(1), 1, 1, calls.get(0), new Effect.ClearAllState(), set("b", "1")),
                end(calls.get(2), 1, 1, calls.get(1), set("c", "2")));
        assertThat(state()).isEqualTo(Map.of("b", "1", "c", "2"));
    }

    @Test
    void an_end_ahead_of_its_turn_is_refused_without_those_before_it() {
        WorkerId worker = join();
        List<RunRef> calls = calls(worker, 4);
        assertThat(apply(worker, end(calls.get(1), 1, 1, calls.get(0), set("a", "1"))))
                .isInstanceOf(Outcome.Fenced.class);
        List<Outcome> outcomes =
                applyAll(worker, end(calls.get(0), 1), end(calls.get(2), 1, 1, calls.get(1), set("a", "2")));
        assertThat(outcomes.get(0)).isInstanceOf(Outcome.Applied.class);
        assertThat(outcomes.get(1)).isInstanceOf(Outcome.Fenced.class);
        assertThat(handed(outcomes)).containsExactly(calls.get(1));
        assertThat(stateOf(calls.get(2))).isEqualTo(RunState.PENDING);
        assertThat(state()).isEmpty();
    }

    @Test
    void one_that_was_cancelled_lets_none_behind_it_end() {
        WorkerId worker = join();
        List<RunRef> calls = calls(worker, 4);
        command(calls.get(2), Change.CommandKind.CANCEL, "not wanted");
        List<Outcome> outcomes = applyAll(
                worker,
                end(calls.get(0), 1),
                end(calls.get(1), 1, 1, calls.get(0), set("a", "1")),
                end(calls.get(2), 1, 1, calls.get(1), set("a", "2")),
                end(calls.get(3), 1, 1, calls.get(2), set("a", "3")));
        assertThat(outcomes.get(1)).isInstanceOf(Outcome.Applied.class);
        assertThat(outcomes.get(2)).isInstanceOf(Outcome.Fenced.class);
        assertThat(stateOf(calls.get(2))).isEqualTo(RunState.CANCELLED);
        assertThat(outcomes.get(3)).isInstanceOf(Outcome.Fenced.class);
        assertThat(state()).isEqualTo(Map.of("a", "1"));
        assertThat(handed(outcomes, calls.get(1))).containsExactly(calls.get(3));
    }

    @Test
    void one_that_was_paused_holds_the_object_and_lets_none_behind_it_end() {
        WorkerId worker = join();
        List<RunRef> calls = calls(worker, 3);
        command(calls.get(1), Change.CommandKind.PAUSE, "look");
        List<Outcome> outcomes = applyAll(
                worker,
                end(calls.get(0), 1, set("a", "0")),
                end(calls.get(1), 1, 1, calls.get(0), set("a", "1")),
                end(calls.get(2), 1, 1, calls.get(1), set("a", "2")));
        assertThat(outcomes.get(1)).isInstanceOf(Outcome.Fenced.class);
        assertThat(outcomes.get(2)).isInstanceOf(Outcome.Fenced.class);
        assertThat(stateOf(calls.get(1))).isEqualTo(RunState.PAUSED);
        assertThat(stateOf(calls.get(2))).isEqualTo(RunState.PENDING);
        assertThat(state()).isEqualTo(Map.of("a", "0"));
    }

    @Test
    void a_worker_that_does_not_hold_the_first_ends_none() {
        WorkerId worker = join();
        WorkerId other = join();
        List<RunRef> calls = calls(worker, 2);
        assertThat(applyAll(other, end(calls.get(0), 1), end(calls.get(1), 1, 1, calls.get(0), set("a", "1"))))
                .allMatch(Outcome.Fenced.class::isInstance);
        assertThat(applyAll(
                        worker, end(calls.get(0), 7, 1, null), end(calls.get(1), 1, 1, calls.get(0), set("a", "1"))))
                .allMatch(Outcome.Fenced.class::isInstance);
        store().leases().leave(worker);
        assertThat(applyAll(worker, end(calls.get(0), 1), end(calls.get(1), 1, 1, calls.get(0), set("a", "1"))))
                .allMatch(Outcome.Fenced.class::isInstance);
        assertThat(stateOf(calls.get(0))).isEqualTo(RunState.RUNNING);
        assertThat(stateOf(calls.get(1))).isEqualTo(RunState.PENDING);
        assertThat(state()).isEmpty();
    }

    @Test
    void a_batch_whose_answer_was_lost_knows_itself_again() {
        WorkerId worker = join();
        List<RunRef> calls = calls(worker, 4);
        Change[] batch = {
            end(calls.get(0), 1, set("a", "0")),
            end(calls.get(1), 1, 1, calls.get(0), set("a", "1")),
            end(calls.get(2), 1, 64, calls.get(1))
        };
        applyAll(worker, batch);
        assertThat(applyAll(worker, batch)).allMatch(Outcome.AlreadyThere.class::isInstance);
        assertThat(state()).isEqualTo(Map.of("a", "1"));
        assertThat(store().leases().owned(worker))
                .extracting(owned -> owned.run())
                .containsExactly(calls.get(3));
    }

    @Test
    void one_that_has_had_its_turn_meanwhile_is_not_ended_ahead_of_it() {
        WorkerId worker = join();
        List<RunRef> calls = calls(worker, 2);
        applyAll(worker, end(calls.get(0), 1));
        assertThat(apply(worker, end(calls.get(1), 1, 1, calls.get(0), set("a", "1"))))
                .isInstanceOf(Outcome.Fenced.class);
        assertThat(stateOf(calls.get(1))).isEqualTo(RunState.RUNNING);
        assertThat(state()).isEmpty();
        assertThat(apply(worker, end(calls.get(1), 1))).isInstanceOf(Outcome.Applied.class);
    }

    @Test
    void calls_of_several_objects_end_in_one_batch_each_in_its_own_order() {
        WorkerId worker = join();
        List<RunRef> calls = calls(worker, 2);
        ObjectKey other = new ObjectKey("cart", "user-2");
        List<RunRef> others = IntStream.range(0, 3)
                .mapToObj(i -> apply(
                        worker,
                        new Change.Start(newRun("other-" + i).on(new ObjectCall(other, Hold.EXCLUSIVE)), worker)))
                .map(outcome -> ((Outcome.Started) outcome).run())
                .toList();
        List<Outcome> outcomes = applyAll(
                worker,
                end(others.get(0), 1),
                end(calls.get(0), 1),
                end(others.get(1), 1, 1, others.get(0)),
                end(calls.get(1), 1, 1, calls.get(0), set("a", "1")));
        assertThat(outcomes).allMatch(Outcome.Applied.class::isInstance);
        assertThat(handed(outcomes, others.get(1), calls.get(1))).containsExactly(others.get(2));
        assertThat(state()).isEqualTo(Map.of("a", "1"));
    }
}
