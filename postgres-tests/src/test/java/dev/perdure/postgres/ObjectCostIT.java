package dev.perdure.postgres;

import static dev.perdure.postgres.StoreFixture.newRun;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.RunRef;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What calls of virtual objects cost. */
final class ObjectCostIT extends CostMeasurement {
    /**
     * Its start tells it the state. Twice, because the driver splits executes by what it has learnt of their results.
     */
    @Test
    void a_call_of_a_free_object_is_two_round_trips_and_two_commits_and_so_are_many() {
        for (int count : List.of(1, 50, 1, 50)) {
            List<Change> starts = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                ObjectCall cart = new ObjectCall(new ObjectKey("cart", "free-" + i), ObjectCall.Hold.EXCLUSIVE);
                starts.add(new Change.Start(newRun("free-" + UUID.randomUUID()).on(cart), fixture.worker));
            }
            assertThat(costOf(() -> {
                        List<Change> ends = new ArrayList<>();
                        for (Outcome outcome : fixture.apply(starts)) {
                            Outcome.Started started = (Outcome.Started) outcome;
                            assertThat(started.state()).isNotNull();
                            List<Effect> sets = List.of(new Effect.SetState("count", StoreFixture.json("1")));
                            Move end = new Move.End(RunState.COMPLETED, StoreFixture.json("1"), "", 64);
                            ends.add(new Change.Advance(started.run(), 1, List.of(), sets, end));
                        }
                        assertThat(fixture.apply(ends)).allMatch(Outcome.Applied.class::isInstance);
                    }))
                    .isEqualTo(new Cost(2, 2));
        }
    }

    /**
     * A start of each call, and an end of each by which the worker gets the next; once it is known that the key is hot.
     */
    @Test
    void a_call_of_an_object_is_two_round_trips_and_two_commits_also_on_a_hot_key() {
        int calls = 8;
        int each = 2 * (calls - 1);
        ObjectCall cart = new ObjectCall(new ObjectKey("cart", "a"), ObjectCall.Hold.EXCLUSIVE);
        List<Effect> effects = List.of(new Effect.SetState("count", StoreFixture.json("1")));
        Outcome.Started first = (Outcome.Started)
                fixture.apply(new Change.Start(newRun("call-0").on(cart), fixture.worker));
        fixture.apply(new Change.Start(newRun("call-hot").on(cart), fixture.worker));
        assertThat(costOf(() -> {
                    for (int i = 1; i < calls; i++) {
                        fixture.apply(new Change.Start(newRun("call-" + i).on(cart), fixture.worker));
                    }
                    RunRef running = first.run();
                    for (int i = 1; i < calls; i++) {
                        Move end = new Move.End(RunState.COMPLETED, StoreFixture.json("1"), "", 1);
                        Change change = new Change.Advance(running, 1, List.of(), effects, end);
                        running = ((Outcome.Applied) fixture.apply(change))
                                .handed()
                                .getFirst()
                                .run();
                    }
                }))
                .isEqualTo(new Cost(each, each));
    }

    /** Twice, because the driver splits executes by what it has learnt of their results. */
    @Test
    void many_calls_of_a_hot_key_that_end_ahead_of_their_turns_are_one_round_trip_and_one_commit() {
        for (int round = 0; round < 2; round++) {
            int calls = 64;
            ObjectCall cart = new ObjectCall(new ObjectKey("cart", "hot-" + round), ObjectCall.Hold.EXCLUSIVE);
            List<RunRef> runs = new ArrayList<>();
            for (int i = 0; i <= calls; i++) {
                NewRun run = newRun("hot-%d-%d".formatted(round, i)).on(cart);
                runs.add(((Outcome.Started) fixture.apply(new Change.Start(run, fixture.worker))).run());
            }
            List<Change> ends = new ArrayList<>();
            for (int i = 0; i < calls; i++) {
                RunRef before = i == 0 ? null : runs.get(i - 1);
                Move end = new Move.End(RunState.COMPLETED, StoreFixture.json("1"), "", 64, before);
                List<Effect> effects = List.of(new Effect.SetState("count", StoreFixture.json("" + i)));
                ends.add(new Change.Advance(runs.get(i), 1, List.of(), effects, end));
            }
            assertThat(costOf(() -> assertThat(fixture.apply(ends)).allMatch(Outcome.Applied.class::isInstance)))
                    .isEqualTo(new Cost(1, 1));
        }
    }

    /** With the end of the call before them, and the start of the one behind them. */
    @Test
    void many_calls_of_a_hot_key_that_begin_and_end_at_once_are_one_round_trip_and_one_commit() {
        ObjectCall cart = new ObjectCall(new ObjectKey("cart", "pipeline"), ObjectCall.Hold.EXCLUSIVE);
        RunRef holder = ((Outcome.Started)
                        fixture.apply(new Change.Start(newRun("pipeline-0").on(cart), fixture.worker)))
                .run();
        for (int round = 0; round < 3; round++) {
            List<Change> changes = new ArrayList<>();
            List<Effect> effects = List.of(new Effect.SetState("count", StoreFixture.json("" + round)));
            Move.End end = new Move.End(RunState.COMPLETED, StoreFixture.json("1"), "", 64);
            changes.add(new Change.Advance(holder, 1, List.of(), effects, end));
            RunId before = holder.id();
            for (int i = 0; i < 100; i++) {
                NewRun run = newRun("pipeline-%d-%d".formatted(round, i)).on(cart);
                changes.add(new Change.CompletedCall(run, List.of(), effects, end, before));
                before = run.id();
            }
            changes.add(new Change.Start(newRun("pipeline-" + (round + 1)).on(cart), fixture.worker));
            List<Outcome> outcomes = new ArrayList<>();
            assertThat(costOf(() -> outcomes.addAll(fixture.apply(changes)))).isEqualTo(new Cost(1, 1));
            assertThat(outcomes.subList(0, 101)).allMatch(Outcome.Applied.class::isInstance);
            holder = ((Outcome.Applied) outcomes.getFirst()).handed().getFirst().run();
        }
    }
}
