package dev.perdure.conformance.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunState;
import dev.perdure.queue.Queue;
import dev.perdure.queue.QueueInfo;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Dispatch.Poll;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Admission;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.Task;
import dev.perdure.spi.change.WorkerId;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** How many runs of a queue may be at work: which runs count, and every way in which a run begins. */
public abstract class QueueLimitConformance extends QueueConformance {
    /** For subclasses. */
    protected QueueLimitConformance() {}

    @Test
    void no_more_begin_than_the_limit_in_all_workers_together() {
        declare(queue().concurrency(2));
        ready("a", "b", "c");
        WorkerId one = join();
        WorkerId two = join();

        assertThat(claim(one, 10)).containsExactly("a", "b");
        assertThat(claim(two, 10)).isEmpty();
        assertThat(claim(one, 10)).isEmpty();
    }

    @Test
    void a_run_that_ends_gives_its_place_to_the_next_whichever_way_it_ends() {
        declare(queue().concurrency(1));
        ready("done", "failed", "cancelled", "killed", "swept", "last");
        WorkerId worker = join();

        end(worker, taken(worker, 10).getFirst());
        Claimed failed = taken(worker, 10).getFirst();
        apply(worker, advance(failed.run(), failed.epoch(), new Move.End(RunState.FAILED, Payload.EMPTY, "broken")));
        Claimed cancelled = taken(worker, 10).getFirst();
        apply(worker, advance(cancelled.run(), cancelled.epoch(), sleep(Duration.ofHours(1))));
        assertThat(claim(worker, 10)).isEmpty();
        command(cancelled.run(), Change.CommandKind.KILL, "no longer needed");
        Claimed killed = taken(worker, 10).getFirst();
        command(killed.run(), Change.CommandKind.KILL, "stop");
        store().leases().leave(worker);
        WorkerId other = join();
        store().leases().sweep(10);

        assertThat(stateOf(killed.run())).isEqualTo(RunState.CANCELLED);
        assertThat(claim(other, 10)).containsExactly("swept");
    }

    @Test
    void a_run_that_only_waits_for_others_takes_no_place_and_nothing_of_the_rate() {
        declare(queue().concurrency(1).rate(1, Duration.ofHours(1)));
        NewRun idle = withQueue(newRun("idle"), LIMITED);
        startReady(idle.withAdmission(idle.admission().weighing(Admission.NOTHING)));
        NewRun dag = withQueue(newRun("dag"), LIMITED);
        apply(
                Lane.client(0),
                new Change.Start(
                        dag, null, List.of(), List.of(new Task(withQueue(newRun("dag/task"), LIMITED), List.of()))));
        WorkerId worker = join();

        Claimed first = taken(worker, 10).getFirst();
        assertThat(first.run().id().value()).isEqualTo("idle");
        apply(worker, advance(first.run(), first.epoch(), sleep(Duration.ofHours(1))));
        Claimed task = taken(worker, 10).getFirst();
        assertThat(task.run().id().value()).isEqualTo("dag/task");
        ready("late");
        assertThat(claim(worker, 10)).isEmpty();
        end(worker, task);
        Claimed own = taken(worker, 10).getFirst();
        assertThat(own.run().id().value()).isEqualTo("dag");
        apply(worker, advance(own.run(), own.epoch(), sleep(Duration.ofHours(2))));
        assertThat(claim(worker, 10)).isEmpty(); // the rate
        advance(Duration.ofHours(1).plusMinutes(2));
        Claimed late = taken(worker, 10).getFirst();
        assertThat(late.run().id().value()).isEqualTo("late");
        end(worker, late);
        assertThat(claim(worker, 10)).containsExactly("idle");
    }

    /** A run that sleeps and holds no place, in a queue whose places another one has. */
    private Claimed sleeperBeside(WorkerId worker, Queue queue, String key) {
        declare(queue.counting(Queue.Counting.AT_WORK));
        startReady(key.isEmpty() ? run("sleeper") : run("sleeper", key));
        Claimed sleeper = claimedOf(worker);
        apply(worker, advance(sleeper.run(), sleeper.epoch(), sleep(Duration.ofHours(1))));
        startReady(key.isEmpty() ? run("first") : run("first", key));
        Claimed first = claimedOf(worker);
        startReady(withPriority(run("urgent"), Integer.MAX_VALUE).withQueueKey(key.isEmpty() ? null : key));
        assertThat(claim(worker, 10)).isEmpty();
        command(sleeper.run(), Change.CommandKind.CANCEL, "not wanted");
        assertThat(stateOf(sleeper.run())).isEqualTo(RunState.READY);
        return first;
    }

    private void needsNoPlace(Queue queue, String key) {
        WorkerId worker = join();
        Claimed first = sleeperBeside(worker, queue, key);
        Claimed sleeper = claimedOf(worker);
        assertThat(sleeper.run().id().value()).isEqualTo("sleeper");
        assertThat(claim(worker, 10)).isEmpty();
        end(worker, first);
        assertThat(claim(worker, 10)).isEmpty(); // it counts while it is at work
        end(worker, sleeper);
        assertThat(claim(worker, 10)).containsExactly("urgent");
    }

    @Test
    void what_a_cancel_wakes_needs_no_place_in_the_queue() {
        needsNoPlace(queue().concurrency(1), "");
    }

    @Test
    void what_a_cancel_wakes_needs_no_place_of_its_worker() {
        needsNoPlace(queue().perWorker(1), "");
    }

    @Test
    void what_a_cancel_wakes_needs_no_place_of_its_key() {
        needsNoPlace(queue().concurrency(3).perKey(1), "acme");
    }

    @Test
    void what_a_cancel_wakes_is_claimed_first() {
        declare(queue().concurrency(10));
        WorkerId worker = join();
        ready("sleeper");
        Claimed sleeper = claimedOf(worker);
        apply(worker, advance(sleeper.run(), sleeper.epoch(), sleep(Duration.ofHours(1))));
        ready("a");
        readyUnder("k", "k/1");
        command(sleeper.run(), Change.CommandKind.CANCEL, "not wanted");
        assertThat(claim(worker, 1)).containsExactly("sleeper");
        assertThat(claim(worker, 10)).containsExactlyInAnyOrder("a", "k/1");
    }

    @Test
    void a_cancelled_run_that_was_ready_goes_before_the_others() {
        declare(queue().concurrency(5));
        WorkerId worker = join();
        ready("a", "begun");
        List<Claimed> both = taken(worker, 2);
        ready("b");
        both.forEach(each -> apply(worker, advance(each.run(), each.epoch(), new Move.Yield())));
        command(both.get(1).run(), Change.CommandKind.CANCEL, "not wanted");
        assertThat(claim(worker, 1)).containsExactly("begun");

        startReady("default/begun");
        Claimed held = store().dispatch().poll(poll(worker, 1)).claimed().getFirst();
        startReady("default/next");
        apply(worker, advance(held.run(), held.epoch(), new Move.Yield()));
        command(held.run(), Change.CommandKind.CANCEL, "not wanted");
        assertThat(claimedIds(poll(worker, 1))).containsExactly("default/begun");
    }

    @Test
    void a_worker_holds_no_more_than_its_own_limit() {
        declare(queue().perWorker(2));
        ready("a", "b", "c", "d", "e");
        WorkerId one = join();
        WorkerId two = join();

        List<Claimed> first = taken(one, 10);
        assertThat(first).hasSize(2);
        assertThat(claim(one, 10)).isEmpty();
        assertThat(claim(two, 10)).containsExactly("c", "d");
        end(one, first.getFirst());
        assertThat(claim(one, 10)).containsExactly("e");
    }

    @Test
    void a_poll_takes_no_more_runs_of_a_queue_than_it_asks_for() {
        declare(queue().perWorker(5));
        ready("a", "b", "c", "d");
        WorkerId worker = join();

        Poll two = pollAll(worker, 10).forAtMost(Map.of(LIMITED, 2));
        assertThat(store().dispatch().poll(two).claimed()).hasSize(2);
        assertThat(store().dispatch()
                        .poll(pollAll(worker, 10).forAtMost(Map.of(LIMITED, 0)))
                        .claimed())
                .isEmpty();
        assertThat(store().dispatch().poll(two).claimed()).hasSize(2);
    }

    @Test
    void a_key_has_no_more_than_its_own_limit_and_runs_without_a_key_have_none() {
        declare(queue().perKey(1));
        readyUnder("x", "x/1", "x/2");
        readyUnder("y", "y/1");
        ready("free1", "free2");
        WorkerId worker = join();

        assertThat(claim(worker, 10)).containsExactlyInAnyOrder("x/1", "y/1", "free1", "free2");
        assertThat(claim(worker, 10)).isEmpty();
        command(refOf("x/1"), Change.CommandKind.KILL, "");
        store().leases().leave(worker);
        WorkerId other = join();
        store().leases().sweep(10);
        assertThat(claim(other, 10)).containsExactlyInAnyOrder("y/1", "x/2", "free1", "free2");
    }

    @Test
    void all_limits_hold_together() {
        declare(queue().concurrency(3).perWorker(2).perKey(1));
        readyUnder("x", "x1", "x2", "x3");
        readyUnder("y", "y1");
        readyUnder("z", "z1");
        readyUnder("u", "u1");
        WorkerId one = join();
        WorkerId two = join();

        assertThat(claim(one, 10)).containsExactly("x1", "y1");
        assertThat(claim(two, 10)).containsExactly("z1");
        assertThat(claim(two, 10)).isEmpty();
    }

    @Test
    void a_run_that_sleeps_keeps_its_place_and_goes_on_when_it_wakes() {
        declare(queue().concurrency(1));
        ready("sleeper", "next");
        WorkerId worker = join();
        Claimed sleeper = claimedOf(worker);
        apply(worker, advance(sleeper.run(), sleeper.epoch(), sleep(Duration.ofHours(1))));

        assertThat(claim(worker, 10)).isEmpty();
        advance(Duration.ofHours(2));
        Claimed again = claimedOf(worker);
        assertThat(again.run()).isEqualTo(sleeper.run());
        end(worker, again);
        assertThat(claim(worker, 10)).containsExactly("next");
    }

    @Test
    void where_only_work_counts_a_run_that_sleeps_gives_its_place_back_and_takes_one_again() {
        declare(queue().concurrency(1).counting(Queue.Counting.AT_WORK));
        ready("sleeper", "next");
        WorkerId worker = join();
        Claimed sleeper = claimedOf(worker);
        apply(worker, advance(sleeper.run(), sleeper.epoch(), sleep(Duration.ofHours(1))));

        Claimed next = claimedOf(worker);
        assertThat(next.run().id().value()).isEqualTo("next");
        advance(Duration.ofHours(2));
        assertThat(claim(worker, 10)).isEmpty();
        assertThat(stateOf(sleeper.run())).isEqualTo(RunState.READY);
        end(worker, next);
        assertThat(claim(worker, 10)).containsExactly("sleeper");
    }

    @Test
    void a_paused_run_gives_its_place_back_and_takes_one_again_when_it_is_resumed() {
        declare(queue().concurrency(1));
        ready("paused", "next");
        WorkerId worker = join();
        Claimed paused = claimedOf(worker);
        apply(worker, advance(paused.run(), paused.epoch(), new Move.Pause("wait", 0)));
        Claimed next = claimedOf(worker);
        assertThat(next.run().id().value()).isEqualTo("next");

        command(paused.run(), Change.CommandKind.RESUME, "");
        assertThat(claim(worker, 10)).isEmpty();
        end(worker, next);
        assertThat(claim(worker, 10)).containsExactly("paused");
    }

    @Test
    void a_run_with_an_owner_is_not_born_running_in_a_limited_queue() {
        declare(queue().concurrency(1));
        WorkerId worker = join();
        Outcome first = apply(worker, new Change.Start(run("a"), worker));
        Outcome second = apply(worker, new Change.Start(run("b"), worker));
        List<Outcome> batch = store().ledger()
                .apply(
                        new Lane(worker, 0),
                        List.of(new Change.Start(run("c"), worker), new Change.Start(run("d"), worker)));

        assertThat(List.of(first, second, batch.getFirst(), batch.getLast()))
                .allSatisfy(outcome ->
                        assertThat(((Outcome.Started) outcome).owned()).isFalse());
        assertThat(claim(worker, 10)).hasSize(1);
        assertThat(claim(worker, 10)).isEmpty();
    }

    @Test
    void tasks_are_neither_born_running_nor_handed_over_in_a_limited_queue() {
        declare(queue().concurrency(1));
        WorkerId worker = join();
        List<Task> tasks = List.of(
                new Task(run("dag/a"), List.of()),
                new Task(run("dag/b"), List.of()),
                new Task(run("dag/c"), List.of(0)));
        Outcome.Started started =
                (Outcome.Started) apply(worker, new Change.Start(run("dag"), worker, List.of(), tasks));
        assertThat(started.handed()).isEmpty();

        Claimed first = claimedOf(worker);
        Outcome.Applied ended = (Outcome.Applied) apply(
                worker, advance(first.run(), first.epoch(), new Move.End(RunState.COMPLETED, payload("1"), "", 5)));
        assertThat(ended.handed()).isEmpty();
        assertThat(claim(worker, 10)).hasSize(1);
        assertThat(claim(worker, 10)).isEmpty();
    }

    @Test
    void a_call_of_a_virtual_object_is_neither_handed_over_nor_completed_at_once_in_a_limited_queue() {
        declare(queue().concurrency(1));
        WorkerId worker = join();
        ObjectCall call = new ObjectCall(new ObjectKey("cart", "7"), ObjectCall.Hold.EXCLUSIVE);
        apply(worker, new Change.Start(run("first").on(call), worker));
        apply(worker, new Change.Start(run("second").on(call), worker));
        Claimed first = claimedOf(worker);
        Move.End takingOver = new Move.End(RunState.COMPLETED, payload("1"), "", 5);
        Change.CompletedCall ahead = new Change.CompletedCall(
                run("third").on(call),
                List.of(),
                List.of(),
                endOf(),
                first.run().id());

        List<Outcome> outcomes = store().ledger()
                .apply(new Lane(worker, 0), List.of(advance(first.run(), first.epoch(), takingOver), ahead));
        assertThat(((Outcome.Applied) outcomes.getFirst()).handed()).isEmpty();
        assertThat(outcomes.getLast()).isInstanceOf(Outcome.Fenced.class);
        assertThat(claim(worker, 10)).containsExactly("second");
    }

    private static Move.End endOf() {
        return new Move.End(RunState.COMPLETED, payload("1"), "");
    }

    @Test
    void a_run_that_is_begun_anew_swept_or_given_back_does_not_exceed_the_limit() {
        declare(queue().concurrency(1));
        ready("a", "b");
        WorkerId worker = join();
        Claimed a = claimedOf(worker);
        apply(worker, advance(a.run(), a.epoch(), new Move.Restart(payload("\"again\""), 77)));
        Claimed again = claimedOf(worker);
        assertThat(again.run()).isEqualTo(a.run());
        assertThat(claim(worker, 10)).isEmpty();

        store().leases().leave(worker);
        WorkerId other = join();
        store().leases().sweep(10);
        Claimed swept = claimedOf(other);
        assertThat(swept.run()).isEqualTo(a.run());
        assertThat(claim(other, 10)).isEmpty();
        apply(other, advance(swept.run(), swept.epoch(), new Move.Yield()));
        assertThat(claim(other, 10)).containsExactly("a");
    }

    @Test
    void another_life_of_a_run_takes_a_place_again() {
        declare(queue().concurrency(1));
        WorkerId worker = join();
        List<Task> tasks = List.of(new Task(run("dag/a"), List.of()));
        apply(worker, new Change.Start(run("dag"), null, List.of(), tasks));
        end(worker, claimedOf(worker));
        end(worker, claimedOf(worker));
        ready("other");
        Claimed other = claimedOf(worker);
        apply(
                Lane.client(0),
                new Change.Rerun(refOf("dag").id(), List.of(refOf("dag/a").id()), 99));

        assertThat(stateOf(refOf("dag/a"))).isEqualTo(RunState.READY);
        assertThat(claim(worker, 10)).isEmpty();
        end(worker, other);
        assertThat(claim(worker, 10)).containsExactly("dag/a");
    }

    @Test
    void runs_that_ran_before_the_queue_had_limits_count() {
        WorkerId worker = join();
        RunRef before = startOwned(worker, run("before"));
        declare(queue().concurrency(1));
        ready("after");

        assertThat(claim(worker, 10)).isEmpty();
        apply(worker, advance(before, 1, complete("1")));
        assertThat(claim(worker, 10)).containsExactly("after");
    }

    @Test
    void workers_that_claim_at_the_same_time_never_exceed_the_limits() throws Exception {
        declare(queue().concurrency(7).perKey(2));
        IntStream.range(0, 120).forEach(i -> startReady(run("k" + i % 6 + "/" + i, "k" + i % 6)));
        List<WorkerId> workers = IntStream.range(0, 4).mapToObj(i -> join()).toList();
        List<Callable<Integer>> loops = workers.stream()
                .<Callable<Integer>>map(worker -> () -> {
                    int done = 0;
                    while (isWaiting()) {
                        List<Claimed> claimed = taken(worker, 3);
                        QueueInfo.Load load = info().load();
                        assertThat(load.atWork()).isLessThanOrEqualTo(7);
                        assertThat(store().queues().keys(LIMITED, 10))
                                .allSatisfy(
                                        key -> assertThat(key.load().atWork()).isLessThanOrEqualTo(2));
                        endAll(worker, claimed);
                        done += claimed.size();
                    }
                    return done;
                })
                .toList();
        int done = 0;
        try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
            for (Future<Integer> loop : threads.invokeAll(loops)) {
                done += loop.get();
            }
        }
        assertThat(done).isEqualTo(120);
    }

    private boolean isWaiting() {
        return info().load().waiting() > 0;
    }
}
