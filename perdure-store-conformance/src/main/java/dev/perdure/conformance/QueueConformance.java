package dev.perdure.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunState;
import dev.perdure.queue.Queue;
import dev.perdure.queue.QueueInfo;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Dispatch.Poll;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.QueueRules.Order;
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
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Queues with limits: who begins, who waits, and what gives a place back. */
public abstract class QueueConformance extends StoreConformance {
    private static final String LIMITED = "limited";

    /** For subclasses. */
    protected QueueConformance() {}

    private void declare(Queue queue) {
        store().queues().declare(List.of(queue));
    }

    private static Queue queue() {
        return Queue.named(LIMITED);
    }

    private static NewRun run(String id) {
        return withQueue(newRun(id), LIMITED);
    }

    private static NewRun run(String id, String key) {
        return run(id).withQueueKey(key);
    }

    private static Poll pollAll(WorkerId worker, int limit) {
        return new Poll(worker, Set.of(DEFINITION), Set.of(QUEUE, LIMITED), null, limit, true);
    }

    private List<String> claim(WorkerId worker, int limit) {
        return claimedIds(pollAll(worker, limit));
    }

    private List<Claimed> taken(WorkerId worker, int limit) {
        return store().dispatch().poll(pollAll(worker, limit)).claimed();
    }

    /** Starts runs that are ready, one after another. */
    private void ready(String... ids) {
        for (String id : ids) {
            startReady(run(id));
            advance(Duration.ofMillis(1));
        }
    }

    private void readyUnder(String key, String... ids) {
        for (String id : ids) {
            startReady(run(id, key));
            advance(Duration.ofMillis(1));
        }
    }

    private void end(WorkerId worker, Claimed claimed) {
        assertThat(apply(worker, advance(claimed.run(), claimed.epoch(), complete("1"))))
                .isInstanceOf(Outcome.Applied.class);
    }

    private void endAll(WorkerId worker, List<Claimed> claimed) {
        claimed.forEach(each -> end(worker, each));
    }

    // ---- limits

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
    void a_key_has_no_more_than_its_own_limit_and_runs_without_a_key_have_none() {
        declare(queue().perKey(1));
        readyUnder("x", "x1", "x2");
        readyUnder("y", "y1");
        ready("free1", "free2");
        WorkerId worker = join();

        assertThat(claim(worker, 10)).containsExactlyInAnyOrder("x1", "y1", "free1", "free2");
        assertThat(claim(worker, 10)).isEmpty();
        command(refOf("x1"), Change.CommandKind.KILL, "");
        store().leases().leave(worker);
        WorkerId other = join();
        store().leases().sweep(10);
        assertThat(claim(other, 10)).containsExactlyInAnyOrder("y1", "x2", "free1", "free2");
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

    // ---- what counts

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

    private Claimed claimedOf(WorkerId worker) {
        List<Claimed> claimed = taken(worker, 10);
        assertThat(claimed).hasSize(1);
        return claimed.getFirst();
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

    // ---- every way into RUNNING

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
    void a_run_that_is_woken_by_mail_swept_or_begun_anew_does_not_exceed_the_limit() {
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

    // ---- the order

    @Test
    void within_a_queue_priority_comes_first_then_age() {
        declare(queue().concurrency(10));
        ready("old", "young");
        startReady(withPriority(run("urgent"), 5));
        WorkerId worker = join();

        assertThat(claim(worker, 10)).containsExactly("urgent", "old", "young");
    }

    @Test
    void keys_take_turns_and_the_one_that_was_served_least_recently_is_next() {
        declare(queue().concurrency(1));
        readyUnder("x", "x1", "x2", "x3");
        readyUnder("y", "y1", "y2");
        WorkerId worker = join();
        List<String> order = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            Claimed claimed = claimedOf(worker);
            order.add(claimed.run().id().value());
            end(worker, claimed);
        }
        readyUnder("a new key", "n1");
        for (int i = 0; i < 3; i++) {
            Claimed claimed = claimedOf(worker);
            order.add(claimed.run().id().value());
            end(worker, claimed);
        }

        assertThat(order).containsExactly("x1", "y1", "x2", "n1", "y2", "x3");
    }

    @Test
    void keys_take_turns_within_one_claim_and_without_any_declaration() {
        readyUnder("x", "x1", "x2", "x3");
        readyUnder("y", "y1");
        readyUnder("z", "z1", "z2");
        WorkerId worker = join();

        assertThat(claim(worker, 4)).containsExactly("x1", "y1", "z1", "x2");
        assertThat(claim(worker, 10)).containsExactlyInAnyOrder("z2", "x3");
    }

    @Test
    void a_key_with_many_waiting_does_not_delay_a_key_with_one() {
        declare(queue().concurrency(2));
        for (int i = 0; i < 50; i++) {
            readyUnder("big", "big" + i);
        }
        readyUnder("small", "small1");
        WorkerId worker = join();

        assertThat(claim(worker, 10)).containsExactly("big0", "small1");
    }

    @Test
    void a_full_key_does_not_stand_before_others() {
        declare(queue().perKey(1));
        for (int i = 0; i < 20; i++) {
            readyUnder("full", "full" + i);
        }
        readyUnder("other", "other1");
        WorkerId worker = join();
        claim(worker, 1);

        assertThat(claim(worker, 1)).containsExactly("other1");
        assertThat(claim(worker, 1)).isEmpty();
    }

    @Test
    void a_worker_gets_only_what_it_can_run_of_a_limited_queue() {
        declare(queue().concurrency(5));
        startReady(withQueue(withDefinition(newRun("other"), "other"), LIMITED).withQueueKey("k"));
        startReady(withQueue(withVersion(newRun("pinned"), "v2"), LIMITED).withQueueKey("k"));
        readyUnder("k", "plain");
        WorkerId worker = join();

        assertThat(claim(worker, 10)).containsExactly("plain");
        assertThat(claimedIds(poll(worker, 10))).isEmpty();
    }

    @Test
    void limited_and_other_queues_take_turns_in_a_worker_that_has_little_room() {
        declare(queue().concurrency(10));
        ready("l1", "l2", "l3");
        startReady("u1");
        startReady("u2");
        startReady("u3");
        WorkerId worker = join();
        List<String> order = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            order.addAll(claim(worker, 1));
        }

        assertThat(order).hasSize(4).contains("l1", "l2", "u1", "u2");
    }

    @Test
    void a_run_that_has_to_run_alone_does_so_in_a_limited_queue_too() {
        declare(queue().concurrency(5));
        ready("poison");
        WorkerId worker = join();
        for (int i = 0; i < Claimed.ALONE_AFTER; i++) {
            Claimed claimed = claimedOf(worker);
            apply(worker, advance(claimed.run(), claimed.epoch(), new Move.Recover("broken")));
        }
        ready("healthy");

        List<Claimed> first = taken(worker, 10);
        assertThat(first).hasSize(1).noneMatch(Claimed::alone);
        Poll busy = new Poll(worker, Set.of(DEFINITION), Set.of(LIMITED), null, 10, false);
        assertThat(store().dispatch().poll(busy).claimed()).isEmpty();
        assertThat(store().dispatch().poll(busy).aloneWaits()).isTrue();
        endAll(worker, first);
        assertThat(claim(worker, 10)).containsExactly("poison");
    }

    // ---- what a poll tells

    @Test
    void a_poll_tells_that_only_a_limit_holds_runs_back() {
        declare(queue().concurrency(1));
        WorkerId worker = join();
        assertThat(store().dispatch().poll(pollAll(worker, 10)).limited()).isFalse();
        ready("a", "b");
        taken(worker, 10);

        assertThat(store().dispatch().poll(pollAll(worker, 10)).limited()).isTrue();
        assertThat(store().dispatch().poll(poll(worker, 10)).limited()).isFalse();
    }

    // ---- operators

    @Test
    void nothing_is_taken_from_a_paused_queue_until_it_is_resumed() {
        declare(queue());
        ready("a");
        WorkerId worker = join();
        assertThat(store().queues().apply(new Order.Pause(LIMITED, "the API is down")))
                .isTrue();

        assertThat(claim(worker, 10)).isEmpty();
        assertThat(((Outcome.Started) apply(worker, new Change.Start(run("b"), worker))).owned())
                .isFalse();
        assertThat(info().paused()).contains("the API is down");
        store().queues().apply(new Order.Resume(LIMITED));
        assertThat(claim(worker, 10)).containsExactlyInAnyOrder("a", "b");
        assertThat(info().paused()).isEmpty();
    }

    private QueueInfo info() {
        return store().queues().find(LIMITED).orElseThrow();
    }

    @Test
    void a_change_holds_at_once_survives_a_declaration_and_is_reset() {
        declare(queue().concurrency(1).perKey(1));
        ready("a", "b", "c", "d");
        WorkerId worker = join();
        assertThat(claim(worker, 10)).containsExactly("a");
        store().queues().apply(new Order.Limit(queue().concurrency(2)));
        assertThat(claim(worker, 10)).containsExactly("b");

        declare(queue().concurrency(1).perKey(7));
        assertThat(info().declared()).isEqualTo(queue().concurrency(1).perKey(7));
        assertThat(info().changed()).isEqualTo(queue().concurrency(2));
        assertThat(info().limits()).isEqualTo(queue().concurrency(2).perKey(7));
        store().queues().apply(new Order.Limit(queue().concurrency(Queue.UNLIMITED)));
        assertThat(info().limits().concurrency()).isEmpty();
        assertThat(claim(worker, 1)).containsExactly("c");
        store().queues().apply(new Order.Reset(LIMITED));
        assertThat(info().changed()).isEqualTo(queue());
        assertThat(claim(worker, 10)).isEmpty();
    }

    @Test
    void an_unknown_queue_is_not_changed() {
        assertThat(store().queues().apply(new Order.Pause("nowhere", ""))).isFalse();
        assertThat(store().queues().apply(new Order.Resume("nowhere"))).isFalse();
        assertThat(store().queues().apply(new Order.Reset("nowhere"))).isFalse();
        assertThat(store().queues().apply(new Order.Limit(Queue.named("nowhere").concurrency(1))))
                .isFalse();
        assertThat(store().queues().find("nowhere")).isEmpty();
    }

    @Test
    void a_queue_tells_what_waits_and_runs_in_all_and_by_key() {
        declare(queue().concurrency(3));
        readyUnder("x", "x1", "x2", "x3", "x4");
        readyUnder("y", "y1");
        WorkerId worker = join();
        List<Claimed> claimed = taken(worker, 10);
        Claimed sleeper = claimed.getFirst();
        apply(worker, advance(sleeper.run(), sleeper.epoch(), sleep(Duration.ofHours(1))));

        QueueInfo.Load load = info().load();
        assertThat(load.waiting()).isEqualTo(2);
        assertThat(load.begun()).isEqualTo(3);
        assertThat(load.atWork()).isEqualTo(2);
        assertThat(load.oldest()).contains(BEGINNING.plusMillis(2));
        assertThat(store().queues().keys(LIMITED, 10))
                .extracting(
                        QueueInfo.Key::key,
                        key -> key.load().waiting(),
                        key -> key.load().begun(),
                        key -> key.load().atWork())
                .containsExactly(
                        org.assertj.core.groups.Tuple.tuple("x", 2L, 2L, 1L),
                        org.assertj.core.groups.Tuple.tuple("y", 0L, 1L, 1L));
        advance(Duration.ofMinutes(1));
        assertThat(info().load().lastMinute()).isEqualTo(3);
        assertThat(store().queues().list()).extracting(QueueInfo::name).containsExactly(LIMITED);
    }

    // ---- rates

    private static final Duration SECOND = Duration.ofSeconds(1);
    /** A store may count a run a little longer than the period, never shorter. */
    private static final Duration PERIOD_OVER = Duration.ofMillis(1_020);

    @Test
    void no_more_begin_in_a_period_than_the_rate_and_the_poll_tells_when_more_may() {
        declare(queue().rate(3, SECOND));
        startReady(run("a"));
        startReady(run("b"));
        startReady(run("c"));
        startReady(run("d"));
        startReady(run("e"));
        WorkerId worker = join();
        endAll(worker, taken(worker, 2));
        advance(Duration.ofMillis(500));
        List<Claimed> third = taken(worker, 10);
        assertThat(third).hasSize(1);
        endAll(worker, third);
        assertThat(claim(worker, 10)).isEmpty();
        assertThat(store().dispatch().poll(pollAll(worker, 10)).nextDue())
                .isBetween(BEGINNING.plus(SECOND), BEGINNING.plus(PERIOD_OVER));
        advance(Duration.ofMillis(499));
        assertThat(claim(worker, 10)).isEmpty();

        advance(Duration.ofMillis(21));
        assertThat(claim(worker, 10)).hasSize(2);
    }

    @Test
    void a_run_takes_its_weight_and_is_not_passed_by_lighter_ones() {
        declare(queue().rate(5, SECOND));
        startReady(run("heavy").withAdmission(new Admission(null, 4)));
        advance(Duration.ofMillis(1));
        startReady(run("middle").withAdmission(new Admission(null, 2)));
        advance(Duration.ofMillis(1));
        ready("light");
        WorkerId worker = join();

        assertThat(claim(worker, 10)).containsExactly("heavy");
        assertThat(claim(worker, 10)).isEmpty();
        advance(PERIOD_OVER);
        assertThat(claim(worker, 10)).containsExactly("middle", "light");
    }

    @Test
    void a_run_that_is_heavier_than_the_rate_takes_all_of_it() {
        declare(queue().rate(2, SECOND));
        startReady(run("giant").withAdmission(new Admission(null, 50)));
        advance(Duration.ofMillis(1));
        ready("light");
        WorkerId worker = join();

        assertThat(claim(worker, 10)).containsExactly("giant");
        advance(PERIOD_OVER);
        assertThat(claim(worker, 10)).containsExactly("light");
    }

    @Test
    void a_run_that_goes_on_does_not_count_again() {
        declare(queue().rate(1, SECOND));
        ready("sleeper", "next");
        WorkerId worker = join();
        Claimed sleeper = claimedOf(worker);
        apply(worker, advance(sleeper.run(), sleeper.epoch(), sleep(Duration.ofMillis(100))));
        advance(Duration.ofMillis(200));

        assertThat(claim(worker, 10)).containsExactly("sleeper");
        advance(PERIOD_OVER);
        assertThat(claim(worker, 10)).containsExactly("next");
    }

    @Test
    void each_key_has_a_rate_of_its_own_beside_that_of_the_queue() {
        declare(queue().rate(4, SECOND).ratePerKey(2, SECOND));
        readyUnder("x", "x1", "x2", "x3");
        readyUnder("y", "y1");
        ready("f1", "f2");
        WorkerId worker = join();

        assertThat(claim(worker, 10)).containsExactlyInAnyOrder("x1", "y1", "x2", "f1");
        assertThat(claim(worker, 10)).isEmpty();
        advance(PERIOD_OVER);
        assertThat(claim(worker, 10)).containsExactlyInAnyOrder("x3", "f2");
    }

    @Test
    void a_burst_spreads_what_the_rate_allows() {
        declare(queue().rate(10, SECOND).burst(2));
        ready("a", "b", "c", "d", "e");
        WorkerId worker = join();

        assertThat(claim(worker, 10)).hasSize(2);
        advance(Duration.ofMillis(190));
        assertThat(claim(worker, 10)).isEmpty();
        advance(Duration.ofMillis(15));
        assertThat(claim(worker, 10)).hasSize(2);
        assertThat(claim(worker, 10)).isEmpty();
    }

    @Test
    void a_rate_and_a_limit_hold_together_and_a_run_that_waits_for_the_rate_takes_no_place() {
        declare(queue().rate(1, SECOND).concurrency(1));
        ready("a", "b");
        WorkerId worker = join();
        end(worker, claimedOf(worker));
        assertThat(claim(worker, 10)).isEmpty();
        assertThat(info().load().begun()).isZero();
        advance(PERIOD_OVER);
        assertThat(claim(worker, 10)).containsExactly("b");
    }

    @Test
    void a_run_that_waits_for_a_rate_says_so() {
        declare(queue().rate(1, SECOND).ratePerKey(1, Duration.ofMinutes(1)));
        readyUnder("x", "x1", "x2");
        ready("free");
        WorkerId worker = join();
        taken(worker, 10);

        assertThat(reasonOf("free"))
                .startsWith("The rate of the queue 'limited' allows no more before 2026-01-01T00:00:01");
        assertThat(reasonOf("x2"))
                .startsWith("The rate of the key 'x' of the queue 'limited' allows no more before 2026-01-01T00:01:00");
        advance(PERIOD_OVER);
        assertThat(reasonOf("free")).isEmpty();
    }

    // ---- why a run waits

    private String reasonOf(String id) {
        return found(refOf(id)).info().reason().orElse("");
    }

    @Test
    void a_ready_run_says_why_no_worker_takes_it() {
        declare(queue().concurrency(4).perKey(1));
        WorkerId worker = join();
        readyUnder("x", "x1", "x2");
        ready("a", "b", "c", "d");
        assertThat(reasonOf("x2")).isEmpty();
        claim(worker, 1);
        assertThat(reasonOf("x2"))
                .isEqualTo("The key 'x' of the queue 'limited' is full: 1 of 1 places are taken, by 'x1'.");
        assertThat(reasonOf("a")).isEmpty();
        claim(worker, 10);
        assertThat(reasonOf("d"))
                .isEqualTo("The queue 'limited' is full: 4 of 4 places are taken, by 'x1', 'a', 'b' and 1 more.");
        store().queues().apply(new Order.Pause(LIMITED, "the API is down"));
        assertThat(reasonOf("d")).isEqualTo("The queue 'limited' is paused: the API is down");
        store().queues().apply(new Order.Resume(LIMITED));
        store().queues().apply(new Order.Limit(queue().concurrency(5)));
        assertThat(reasonOf("d")).isEmpty();
    }

    @Test
    void a_woken_run_that_holds_its_place_has_no_reason_to_wait() {
        declare(queue().concurrency(1));
        ready("sleeper", "next");
        WorkerId worker = join();
        Claimed sleeper = claimedOf(worker);
        apply(worker, advance(sleeper.run(), sleeper.epoch(), sleep(Duration.ofHours(1))));
        assertThat(reasonOf("next")).isEqualTo("The queue 'limited' is full: 1 of 1 places are taken, by 'sleeper'.");
        command(sleeper.run(), Change.CommandKind.CANCEL, "enough");

        assertThat(stateOf(sleeper.run())).isEqualTo(RunState.READY);
        assertThat(reasonOf("sleeper")).isEmpty();
    }

    // ---- races

    @Test
    void workers_that_claim_at_the_same_time_never_exceed_the_limits() throws Exception {
        declare(queue().concurrency(7).perKey(2));
        IntStream.range(0, 120).forEach(i -> startReady(run("r" + i, "k" + i % 6)));
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
