package dev.perdure.conformance.object;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunState;
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
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Virtual objects: which call holds them, and which call is next. */
public abstract class ObjectConformance extends ObjectCallConformance {
    /** For subclasses. */
    protected ObjectConformance() {}

    @Test
    void the_first_call_holds_the_object_and_the_next_waits_for_its_end() {
        WorkerId worker = join();
        Outcome.Started first = started(worker, exclusive("first"));
        Outcome.Started second = started(worker, exclusive("second"));
        Outcome.Started elsewhere = started(worker, call("elsewhere", new ObjectKey("cart", "user-2"), Hold.EXCLUSIVE));
        assertThat(first.owned()).isTrue();
        assertThat(second.owned()).isFalse();
        assertThat(elsewhere.owned()).isTrue();
        assertThat(stateOf(second.run())).isEqualTo(RunState.PENDING);
        assertThat(polled(worker, 10).claimed()).isEmpty();

        applied(worker, advance(first.run(), 1, end(0)));
        assertThat(stateOf(second.run())).isEqualTo(RunState.READY);
        Claimed claimed = claimOne(worker);
        assertThat(claimed.run()).isEqualTo(second.run());
        assertThat(claimed.epoch()).isEqualTo(1);
        assertThat(claimed.object()).isEqualTo(new ObjectCall(CART, Hold.EXCLUSIVE));
        assertThat(changesOf(second.run())).containsExactly("PENDING", "READY", "RUNNING");
    }

    @Test
    void the_end_hands_the_object_and_its_next_call_to_the_worker_that_made_it() {
        WorkerId worker = join();
        RunRef first = started(worker, exclusive("first")).run();
        RunRef second = started(worker, exclusive("second")).run();
        started(worker, exclusive("third"));
        Change.Advance change = advance(first, 1, end(8));

        Outcome.Applied ended = applied(worker, change);
        assertThat(ended.handed()).singleElement().satisfies(handed -> {
            assertThat(handed.run()).isEqualTo(second);
            assertThat(handed.epoch()).isEqualTo(1);
            assertThat(handed.object()).isEqualTo(new ObjectCall(CART, Hold.EXCLUSIVE));
            assertThat(text(handed.input())).isEqualTo("\"input of second\"");
        });
        assertThat(stateOf(second)).isEqualTo(RunState.RUNNING);
        assertThat(changesOf(second)).containsExactly("PENDING", "RUNNING");
        assertThat(apply(worker, change)).isInstanceOf(Outcome.AlreadyThere.class);
        assertThat(store().leases().owned(worker))
                .extracting(owned -> owned.run())
                .containsExactly(second);
        assertThat(applied(worker, advance(second, 1, end(8))).handed()).hasSize(1);
    }

    @Test
    void a_call_that_the_worker_cannot_run_is_left_for_others() {
        WorkerId worker = join();
        WorkerId other = join(Set.of("other"), null);
        RunRef first = started(worker, exclusive("first")).run();
        RunRef second = started(
                        worker, withDefinition(newRun("second"), "other").on(new ObjectCall(CART, Hold.EXCLUSIVE)))
                .run();
        assertThat(applied(worker, advance(first, 1, end(8))).handed()).isEmpty();
        assertThat(stateOf(second)).isEqualTo(RunState.READY);
        assertThat(other).isNotEqualTo(worker);
    }

    @Test
    void calls_of_one_batch_have_their_turn_in_its_order() {
        WorkerId worker = join();
        List<Change> starts = IntStream.iterate(19, i -> i >= 0, i -> i - 1)
                .<Change>mapToObj(i -> new Change.Start(exclusive("call-" + i), worker))
                .toList();
        List<Outcome> outcomes = store().ledger().apply(new Lane(worker, 0), starts);
        List<String> order = new ArrayList<>(List.of("call-19"));
        RunRef running = ((Outcome.Started) outcomes.getFirst()).run();
        List<Claimed> handed = applied(worker, advance(running, 1, end(1))).handed();
        while (!handed.isEmpty()) {
            running = handed.getFirst().run();
            order.add(running.id().value());
            handed = applied(worker, advance(running, 1, end(1))).handed();
        }
        assertThat(order)
                .isEqualTo(IntStream.iterate(19, i -> i >= 0, i -> i - 1)
                        .mapToObj(i -> "call-" + i)
                        .toList());
    }

    @Test
    void a_call_that_gets_the_object_with_its_start_is_told_what_it_knows() {
        WorkerId worker = join();
        Outcome.Started first = started(worker, exclusive("first"));
        Outcome.Started waiting = started(worker, exclusive("waiting"));
        assertThat(first.state()).isEmpty();
        assertThat(waiting.state()).isNull();
        List<Effect> effects =
                List.of(new Effect.SetState("items", payload("7")), new Effect.SetState("total", payload("9")));
        applied(worker, advance(first.run(), 1, end(1), effects));
        applied(worker, advance(waiting.run(), 1, end(1)));

        List<Outcome> together = store().ledger()
                .apply(
                        new Lane(worker, 0),
                        List.of(
                                new Change.Start(
                                        call("elsewhere", new ObjectKey("cart", "new"), Hold.EXCLUSIVE), worker),
                                new Change.Start(exclusive("last"), worker)));
        assertThat(((Outcome.Started) together.getFirst()).state()).isEmpty();
        assertThat(((Outcome.Started) together.getLast()).state())
                .isEqualTo(Map.of("items", payload("7"), "total", payload("9")));
        assertThat(started(worker, newRun("no call")).state()).isNull();
    }

    /** Objects that are free, that others hold, and that others wait for, all at once. */
    @Test
    void calls_of_one_batch_that_come_and_go_get_what_is_theirs() {
        WorkerId worker = join();
        RunRef leavesFree = started(worker, call("leaves-free", new ObjectKey("cart", "freed"), Hold.EXCLUSIVE))
                .run();
        RunRef leavesToAnother = started(worker, exclusive("leaves-to-another")).run();
        RunRef another = started(worker, exclusive("another")).run();
        NewRun holding = call("holding", new ObjectKey("cart", "held"), Hold.EXCLUSIVE);
        started(worker, holding);
        List<Effect> sets = List.of(new Effect.SetState("items", payload("7")));

        List<Outcome> outcomes = store().ledger()
                .apply(
                        new Lane(worker, 0),
                        List.of(
                                advance(leavesToAnother, 1, end(1), sets),
                                new Change.Start(call("waits", new ObjectKey("cart", "held"), Hold.EXCLUSIVE), worker),
                                advance(leavesFree, 1, end(1), sets),
                                new Change.Start(
                                        call("begins", new ObjectKey("cart", "free"), Hold.EXCLUSIVE), worker)));
        assertThat(((Outcome.Applied) outcomes.getFirst()).handed())
                .extracting(Claimed::run)
                .containsExactly(another);
        assertThat(((Outcome.Started) outcomes.get(1)).owned()).isFalse();
        assertThat(((Outcome.Applied) outcomes.get(2)).handed()).isEmpty();
        assertThat(((Outcome.Started) outcomes.getLast()).owned()).isTrue();
        assertThat(state(CART)).isEqualTo(Map.of("items", "7"));
        assertThat(state(new ObjectKey("cart", "freed"))).isEqualTo(Map.of("items", "7"));
        assertThat(started(worker, call("next", new ObjectKey("cart", "freed"), Hold.EXCLUSIVE))
                        .owned())
                .isTrue();
        assertThat(changesOf(leavesFree)).containsExactly("RUNNING", "COMPLETED");
    }

    @Test
    void the_answer_to_a_call_that_came_and_went_may_be_lost() {
        WorkerId worker = join();
        List<Change> starts = List.of(
                new Change.Start(exclusive("one"), worker),
                new Change.Start(call("two", new ObjectKey("cart", "two"), Hold.EXCLUSIVE), worker));
        List<RunRef> runs = store().ledger().apply(new Lane(worker, 0), starts).stream()
                .map(outcome -> ((Outcome.Started) outcome).run())
                .toList();
        assertThat(store().ledger().apply(new Lane(worker, 0), starts)).allSatisfy(outcome -> {
            assertThat(outcome).isInstanceOf(Outcome.Started.class);
            assertThat(((Outcome.Started) outcome).owned()).isTrue();
        });
        List<Effect> sets = List.of(new Effect.SetState("items", payload("7")));
        List<Change> ends =
                runs.stream().<Change>map(run -> advance(run, 1, end(1), sets)).toList();
        assertThat(store().ledger().apply(new Lane(worker, 0), ends)).allMatch(Outcome.Applied.class::isInstance);
        started(worker, exclusive("next"));
        assertThat(store().ledger().apply(new Lane(worker, 0), ends)).allMatch(Outcome.AlreadyThere.class::isInstance);
        assertThat(started(worker, exclusive("waits")).owned()).isFalse();
    }

    @Test
    void a_call_whose_id_is_taken_takes_no_place() {
        WorkerId worker = join();
        startReady("taken");
        List<Outcome> outcomes = store().ledger()
                .apply(
                        new Lane(worker, 0),
                        List.of(
                                new Change.Start(exclusive("taken"), worker),
                                new Change.Start(exclusive("second"), worker)));
        assertThat(outcomes.getFirst()).isInstanceOf(Outcome.Existing.class);
        assertThat(((Outcome.Started) outcomes.getLast()).owned()).isTrue();
    }

    @Test
    void a_shared_call_waits_for_no_other() {
        WorkerId worker = join();
        started(worker, exclusive("holder"));
        Outcome.Started shared = started(worker, call("shared", CART, Hold.SHARED));
        assertThat(shared.owned()).isTrue();
        RunRef ready = startReady(call("ready", CART, Hold.SHARED));
        Claimed claimed = claimOne(worker);
        assertThat(claimed.run()).isEqualTo(ready);
        assertThat(claimed.object()).isEqualTo(new ObjectCall(CART, Hold.SHARED));
        RunRef waiting = started(worker, exclusive("waiting")).run();
        applied(worker, advance(shared.run(), 1, end(1)));
        assertThat(stateOf(waiting)).isEqualTo(RunState.PENDING);
    }

    @Test
    void a_call_that_waits_is_cancelled_or_killed_at_once_and_passed_over() {
        WorkerId worker = join();
        RunRef holder = started(worker, exclusive("holder")).run();
        RunRef cancelled = started(worker, exclusive("cancelled")).run();
        RunRef killed = started(worker, exclusive("killed")).run();
        RunRef last = started(worker, exclusive("last")).run();
        command(cancelled, Change.CommandKind.CANCEL, "not wanted");
        command(killed, Change.CommandKind.KILL, "not wanted");
        assertThat(stateOf(cancelled)).isEqualTo(RunState.CANCELLED);
        assertThat(stateOf(killed)).isEqualTo(RunState.CANCELLED);
        assertThat(stateOf(last)).isEqualTo(RunState.PENDING);
        assertThat(applied(worker, advance(holder, 1, end(1))).handed())
                .singleElement()
                .extracting(Claimed::run)
                .isEqualTo(last);
    }

    @Test
    void a_holder_that_waits_keeps_the_object_and_one_that_is_killed_frees_it() {
        WorkerId worker = join();
        RunRef holder = started(worker, exclusive("holder")).run();
        RunRef next = started(worker, exclusive("next")).run();
        applied(worker, advance(holder, 1, sleep(Duration.ofDays(1))));
        assertThat(stateOf(next)).isEqualTo(RunState.PENDING);
        command(holder, Change.CommandKind.PAUSE, "look");
        assertThat(stateOf(next)).isEqualTo(RunState.PENDING);
        command(holder, Change.CommandKind.KILL, "away");
        assertThat(stateOf(next)).isEqualTo(RunState.READY);
        assertThat(started(worker, exclusive("later")).owned()).isFalse();
    }

    @Test
    void a_paused_call_keeps_its_place_and_is_pending_again_until_its_turn_comes() {
        WorkerId worker = join();
        RunRef holder = started(worker, exclusive("holder")).run();
        RunRef next = started(worker, exclusive("next")).run();
        RunRef behind = started(worker, exclusive("behind")).run();
        command(next, Change.CommandKind.PAUSE, "look");
        assertThat(stateOf(next)).isEqualTo(RunState.PAUSED);
        command(next, Change.CommandKind.RESUME, "");
        assertThat(stateOf(next)).isEqualTo(RunState.PENDING);
        command(next, Change.CommandKind.PAUSE, "look again");
        assertThat(applied(worker, advance(holder, 1, end(1))).handed()).isEmpty();
        assertThat(stateOf(next)).isEqualTo(RunState.PAUSED);
        assertThat(stateOf(behind)).isEqualTo(RunState.PENDING);
        command(next, Change.CommandKind.RESUME, "");
        assertThat(stateOf(next)).isEqualTo(RunState.READY);
        assertThat(claimOne(worker).run()).isEqualTo(next);
    }

    @Test
    void a_dead_workers_call_keeps_the_object_and_a_killed_one_frees_it() {
        WorkerId worker = join();
        WorkerId second = join();
        RunRef kept = started(worker, exclusive("kept")).run();
        RunRef waits = started(worker, exclusive("waits")).run();
        ObjectKey other = new ObjectKey("cart", "user-2");
        RunRef killed = started(worker, call("killed", other, Hold.EXCLUSIVE)).run();
        RunRef next = started(worker, call("next", other, Hold.EXCLUSIVE)).run();
        command(killed, Change.CommandKind.KILL, "away");
        store().leases().leave(worker);
        store().leases().sweep(10);
        assertThat(stateOf(kept)).isEqualTo(RunState.READY);
        assertThat(stateOf(waits)).isEqualTo(RunState.PENDING);
        assertThat(stateOf(killed)).isEqualTo(RunState.CANCELLED);
        assertThat(stateOf(next)).isEqualTo(RunState.READY);
        assertThat(polled(second, 10).claimed()).extracting(Claimed::run).containsExactlyInAnyOrder(kept, next);
    }

    @Test
    void a_call_that_begins_anew_keeps_the_object() {
        WorkerId worker = join();
        RunRef holder = started(worker, exclusive("holder")).run();
        RunRef next = started(worker, exclusive("next")).run();
        applied(worker, advance(holder, 1, new Move.Restart(payload("2"), 7)));
        Claimed again = claimOne(worker);
        assertThat(again.object()).isEqualTo(new ObjectCall(CART, Hold.EXCLUSIVE));
        assertThat(stateOf(next)).isEqualTo(RunState.PENDING);
        assertThat(applied(worker, advance(holder, again.epoch(), end(1))).handed())
                .hasSize(1);
    }

    @Test
    void a_call_that_arrives_later_takes_its_place_then() {
        WorkerId worker = join();
        NewRun later = new NewRun(
                newRun("later").id(),
                DEFINITION,
                payload("1"),
                1,
                QUEUE,
                0,
                null,
                null,
                Duration.ofMinutes(1),
                null,
                new ObjectCall(CART, Hold.ON_ARRIVAL));
        RunRef run = startReady(later);
        RunRef holder = started(worker, exclusive("holder")).run();
        advance(Duration.ofMinutes(1));
        Claimed claimed = claimOne(worker);
        assertThat(claimed.object()).isEqualTo(new ObjectCall(CART, Hold.ON_ARRIVAL));
        RunRef before = started(worker, exclusive("before")).run();
        Change.Advance arrival = advance(run, claimed.epoch(), new Move.Arrive());
        assertThat(applied(worker, arrival).state()).isEqualTo(RunState.PENDING);
        assertThat(apply(worker, arrival))
                .isInstanceOfSatisfying(
                        Outcome.AlreadyThere.class,
                        there -> assertThat(there.state()).isEqualTo(RunState.PENDING));
        assertThat(store().leases().owned(worker))
                .extracting(owned -> owned.run())
                .containsExactly(holder);
        applied(worker, advance(holder, 1, end(1)));
        assertThat(applied(worker, advance(before, 1, end(1))).handed())
                .singleElement()
                .satisfies(handed -> {
                    assertThat(handed.run()).isEqualTo(run);
                    assertThat(handed.epoch()).isEqualTo(claimed.epoch() + 1);
                    assertThat(handed.object()).isEqualTo(new ObjectCall(CART, Hold.EXCLUSIVE));
                });
    }

    @Test
    void a_call_that_was_recovered_often_before_its_turn_is_in_the_queue_once_after_pause_and_resume() {
        WorkerId worker = join();
        RunRef holder = started(worker, exclusive("holder")).run();
        RunRef call = startReady(call("call", CART, Hold.ON_ARRIVAL));
        for (int i = 0; i < Claimed.ALONE_AFTER; i++) {
            WorkerId dying = join();
            assertThat(claimOne(dying).run()).isEqualTo(call);
            store().leases().leave(dying);
            store().leases().sweep(10);
        }
        applied(worker, advance(call, claimOne(worker).epoch(), new Move.Arrive()));
        applied(worker, advance(holder, 1, end(0)));
        assertThat(stateOf(call)).isEqualTo(RunState.READY);
        command(call, Change.CommandKind.PAUSE, "wait");
        command(call, Change.CommandKind.RESUME, "");
        startReady("other");

        assertThat(claimedIds(poll(join(), 10))).containsExactlyInAnyOrder("call", "other");
    }

    @Test
    void a_call_that_arrives_at_a_free_object_stays_in_memory() {
        WorkerId worker = join();
        RunRef run = started(worker, call("later", CART, Hold.ON_ARRIVAL)).run();
        Change.Advance arrival = advance(run, 1, new Move.Arrive());
        assertThat(applied(worker, arrival).state()).isEqualTo(RunState.RUNNING);
        assertThat(applied(worker, arrival).state()).isEqualTo(RunState.RUNNING);
        assertThat(started(worker, exclusive("next")).owned()).isFalse();
    }

    @Test
    void starters_and_enders_at_once_leave_no_call_behind_and_let_no_two_hold() throws Exception {
        WorkerId worker = join();
        int starters = 4;
        int calls = 40;
        List<String> turns = Collections.synchronizedList(new ArrayList<>());
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<@Nullable Void>> all = new ArrayList<>();
            for (int starter = 0; starter < starters; starter++) {
                all.add(threads.submit(startAndEnd(worker, starter, calls, turns)));
            }
            for (Future<@Nullable Void> each : all) {
                each.get();
            }
        }
        List<Claimed> left = polled(worker, 1).claimed();
        while (!left.isEmpty()) {
            endAll(worker, left.getFirst().run(), left.getFirst().epoch(), 1, turns);
            left = polled(worker, 1).claimed();
        }
        assertThat(turns).hasSize(starters * calls).doesNotHaveDuplicates();
        assertThat(started(worker, exclusive("free")).owned()).isTrue();
    }

    private Callable<@Nullable Void> startAndEnd(WorkerId worker, int starter, int calls, List<String> turns) {
        return () -> {
            for (int i = 0; i < calls; i++) {
                NewRun run = exclusive("call-" + starter + "-" + i);
                Lane lane = new Lane(worker, starter);
                Outcome outcome = store().ledger()
                        .apply(lane, List.of(new Change.Start(run, worker)))
                        .getFirst();
                if (outcome instanceof Outcome.Started started && started.owned()) {
                    endAll(worker, started.run(), 1, starter, turns);
                }
            }
            return null;
        };
    }

    /** Ends the holder, and all that it is handed for it. */
    private void endAll(WorkerId worker, RunRef run, long epoch, int lane, List<String> turns) {
        turns.add(run.id().value());
        Outcome outcome = store().ledger()
                .apply(new Lane(worker, lane), List.of(advance(run, epoch, end(1))))
                .getFirst();
        assertThat(outcome).isInstanceOf(Outcome.Applied.class);
        for (Claimed handed : ((Outcome.Applied) outcome).handed()) {
            endAll(worker, handed.run(), handed.epoch(), lane, turns);
        }
    }
}
