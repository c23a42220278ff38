package dev.perdure.conformance.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunState;
import dev.perdure.StartKey;
import dev.perdure.conformance.StoreConformance;
import dev.perdure.queue.Queue;
import dev.perdure.queue.Queue.WhenKeyFull;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Dispatch.Poll;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.QueueRules.Order;
import dev.perdure.spi.change.Admission;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.FullKey;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Parent;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.Task;
import dev.perdure.spi.change.WorkerId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What a start does whose key in its queue is full. */
public abstract class FullKeyConformance extends StoreConformance {
    private static final String LIMITED = "limited";
    private static final String OF_KEY = "x/";

    /** For subclasses. */
    protected FullKeyConformance() {}

    private void declare(int perKey, WhenKeyFull policy) {
        declare(Queue.named(LIMITED).perKey(perKey).whenKeyFull(policy));
    }

    private void declare(Queue queue) {
        store().queues().declare(List.of(queue));
    }

    /** The run begins its id with its key, as runs do on several shards. */
    private NewRun run(String name) {
        advance(Duration.ofMillis(1)); // so that there is an oldest
        return withQueue(newRun(OF_KEY + name), LIMITED).withQueueKey("x");
    }

    private static NewRun unanswered(NewRun run) {
        return run.withAdmission(Admission.UNCONDITIONAL.withKey(null, true));
    }

    private Outcome start(NewRun run) {
        return apply(Lane.client(0), new Change.Start(run, null));
    }

    private List<Claimed> claim(WorkerId worker) {
        return store().dispatch()
                .poll(new Poll(worker, Set.of(DEFINITION), Set.of(QUEUE, LIMITED), null, 10, true))
                .claimed();
    }

    private Claimed begin(WorkerId worker, String name) {
        startReady(run(name));
        List<Claimed> claimed = claim(worker);
        assertThat(claimed).extracting(each -> each.run().id().value()).containsExactly(OF_KEY + name);
        return claimed.getFirst();
    }

    private void complete(WorkerId worker, Claimed claimed) {
        assertThat(apply(worker, advance(claimed.run(), claimed.epoch(), complete("1"))))
                .isInstanceOf(Outcome.Applied.class);
    }

    private static Outcome full(int places, String... runs) {
        return new Outcome.KeyFull(new FullKey(
                LIMITED,
                "x",
                places,
                IntStream.range(0, runs.length)
                        .mapToObj(i -> newRun(OF_KEY + runs[i]).id())
                        .toList()));
    }

    private void assertCancelled(RunRef run, String reason) {
        assertThat(stateOf(run)).isEqualTo(RunState.CANCELLED);
        assertThat(found(run).info().reason()).hasValue(reason);
    }

    // ---- refuse

    @Test
    void a_start_is_refused_while_the_key_is_full() {
        declare(2, WhenKeyFull.REFUSE);
        WorkerId worker = join();
        Claimed first = begin(worker, "first");
        startReady(run("second"));

        assertThat(start(run("third"))).isEqualTo(full(2, "first", "second"));
        assertThat(store().runs().find(newRun(OF_KEY + "third").id())).isEmpty();
        startReady(withQueue(newRun("y/other"), LIMITED).withQueueKey("y"));
        startReady(run("keyless").withQueueKey(null));
        complete(worker, first);
        startReady(run("fourth"));
    }

    @Test
    void a_start_whose_run_is_there_is_not_refused() {
        declare(1, WhenKeyFull.REFUSE);
        NewRun first = run("first");
        RunRef ref = startReady(first);
        assertThat(start(first)).isInstanceOf(Outcome.Started.class);
        assertThat(start(withInput(first, payload("\"other\"")).withQueueKey("x")))
                .isInstanceOf(Outcome.Started.class);
        assertThat(start(run("first"))).isEqualTo(new Outcome.Existing(ref, DEFINITION, true));
    }

    @Test
    void a_sleeping_run_fills_its_key_if_begun_runs_count_and_not_if_only_those_at_work_do() {
        WorkerId worker = join();
        declare(1, WhenKeyFull.REFUSE);
        Claimed first = begin(worker, "first");
        apply(worker, advance(first.run(), first.epoch(), sleep(Duration.ofHours(1))));
        assertThat(start(run("second"))).isEqualTo(full(1, "first"));

        store().queues().apply(new Order.Limit(Queue.named(LIMITED).counting(Queue.Counting.AT_WORK)));
        startReady(run("third"));
        assertThat(start(run("fourth"))).isEqualTo(full(1, "third"));
    }

    @Test
    void a_paused_run_and_one_whose_start_is_delayed_do_not_fill_a_key() {
        declare(1, WhenKeyFull.REFUSE);
        startReady(withDelay(run("later"), Duration.ofHours(1)).withQueueKey("x"));
        RunRef paused = startReady(run("paused"));
        command(paused, Change.CommandKind.PAUSE, "not now");
        startReady(run("first"));
        assertThat(start(run("second"))).isEqualTo(full(1, "first"));
        command(paused, Change.CommandKind.RESUME, "");
        assertThat(claim(join())).hasSize(1);
    }

    @Test
    void a_refused_start_without_a_caller_is_a_cancelled_run() {
        declare(1, WhenKeyFull.REFUSE);
        startReady(run("first"));
        NewRun second = unanswered(run("second"));
        RunRef ref = startReady(second);
        assertCancelled(
                ref,
                "Refused. The key 'x' of the queue 'limited' is full: 1 of 1 places are taken or waited for, by 'x/first'.");
        assertThat(startReady(second)).isEqualTo(ref);
        assertThat(claim(join())).hasSize(1);
    }

    @Test
    void children_dags_calls_of_objects_and_delayed_starts_wait() {
        WorkerId worker = join();
        declare(1, WhenKeyFull.REFUSE);
        RunRef parent = startOwned(worker, "parent");
        startReady(run("first"));
        NewRun child = run("child").withParent(new Parent(parent, 1, true));
        assertThat(apply(
                        worker,
                        advance(parent, 1, new Move.Stay(), List.of(new Effect.Start(child)), step(1, "\"child\""))))
                .isInstanceOf(Outcome.Applied.class);
        startReady(withDelay(run("later"), Duration.ofHours(1)).withQueueKey("x"));
        startReady(run("call").on(new ObjectCall(new ObjectKey("counter", "1"), ObjectCall.Hold.EXCLUSIVE)));
        NewRun head = run("dag");
        Task task = new Task(run("task"), List.of());
        assertThat(apply(Lane.client(0), new Change.Start(head, null, List.of(), List.of(task))))
                .isInstanceOf(Outcome.Started.class);
        assertThat(List.of("child", "call", "task"))
                .allSatisfy(name -> assertThat(stateOf(refOf(OF_KEY + name))).isEqualTo(RunState.READY));
    }

    @Test
    void a_fork_waits_whatever_the_policy() {
        WorkerId worker = join();
        for (WhenKeyFull policy : WhenKeyFull.values()) {
            declare(1, WhenKeyFull.WAIT);
            Claimed first = begin(worker, "first-" + policy);
            declare(1, policy);
            Change fork =
                    new Change.Fork(first.run().id(), 1, newRun(OF_KEY + policy).id(), 4711, null);
            assertThat(apply(Lane.client(0), fork)).isInstanceOf(Outcome.Started.class);
            assertThat(stateOf(first.run())).isEqualTo(RunState.RUNNING);
            assertThat(stateOf(refOf(OF_KEY + policy))).isEqualTo(RunState.READY);
            command(refOf(OF_KEY + policy), Change.CommandKind.KILL, "next");
            complete(worker, first);
        }
    }

    // ---- drop

    @Test
    void a_dropped_start_is_a_cancelled_run() {
        declare(1, WhenKeyFull.DROP_NEWEST);
        WorkerId worker = join();
        Claimed first = begin(worker, "first");
        NewRun second = run("second");
        RunRef dropped = startReady(second);
        assertCancelled(
                dropped,
                "Dropped. The key 'x' of the queue 'limited' is full: 1 of 1 places are taken or waited for, by 'x/first'.");
        assertThat(changesOf(dropped)).hasSize(2);
        complete(worker, first);
        assertThat(startReady(second)).isEqualTo(dropped);
        assertThat(stateOf(dropped)).isEqualTo(RunState.CANCELLED);
        assertThat(stateOf(startReady(run("third")))).isEqualTo(RunState.READY);
    }

    @Test
    void the_reason_names_three_runs_and_counts_the_others() {
        declare(5, WhenKeyFull.DROP_NEWEST);
        IntStream.range(0, 5).forEach(i -> startReady(run("run-" + i)));
        assertCancelled(
                startReady(run("sixth")),
                "Dropped. The key 'x' of the queue 'limited' is full: 5 of 5 places are taken or waited for, by 'x/run-0', 'x/run-1', 'x/run-2' and 2 more.");
    }

    // ---- cancel the oldest

    @Test
    void the_oldest_run_is_cancelled_and_the_newest_begins_when_it_has_ended() {
        declare(1, WhenKeyFull.CANCEL_OLDEST);
        WorkerId worker = join();
        Claimed first = begin(worker, "first");
        RunRef second = startReady(run("second"));

        assertThat(stateOf(first.run())).isEqualTo(RunState.RUNNING);
        assertThat(store().dispatch()
                        .poll(new Poll(worker, Set.of(DEFINITION), Set.of(LIMITED), null, 10, true))
                        .signalled())
                .singleElement()
                .satisfies(
                        signal -> assertThat(signal.control().cancel())
                                .isEqualTo(
                                        "Cancelled in favour of run 'x/second': the key 'x' of the queue 'limited' is full, and its oldest run gives way."));
        assertThat(claim(worker)).isEmpty();
        assertThat(stateOf(second)).isEqualTo(RunState.READY);
        apply(
                worker,
                advance(first.run(), first.epoch(), new Move.End(RunState.CANCELLED, Payload.EMPTY, "cancelled")));
        assertThat(claim(worker)).extracting(Claimed::run).containsExactly(second);
    }

    @Test
    void a_run_that_has_not_begun_is_cancelled_at_once_and_one_that_is_asked_to_end_is_not_asked_again() {
        declare(1, WhenKeyFull.CANCEL_OLDEST);
        WorkerId worker = join();
        Claimed first = begin(worker, "first");
        RunRef second = startReady(run("second"));
        RunRef third = startReady(run("third"));

        assertCancelled(
                second,
                "Cancelled in favour of run 'x/third': the key 'x' of the queue 'limited' is full, and its oldest run gives way.");
        assertThat(stateOf(first.run())).isEqualTo(RunState.RUNNING);
        assertThat(stateOf(third)).isEqualTo(RunState.READY);
    }

    @Test
    void so_many_are_cancelled_that_the_newest_has_a_place() {
        declare(3, WhenKeyFull.WAIT);
        List<RunRef> runs =
                IntStream.range(0, 4).mapToObj(i -> startReady(run("run-" + i))).toList();
        store().queues().apply(new Order.Limit(Queue.named(LIMITED).whenKeyFull(WhenKeyFull.CANCEL_OLDEST)));
        startReady(run("newest"));
        assertThat(runs)
                .extracting(this::stateOf)
                .containsExactly(RunState.CANCELLED, RunState.CANCELLED, RunState.READY, RunState.READY);
    }

    /** A store may limit how many runs one start cancels, to a hundred and no fewer. */
    @Test
    void of_many_waiting_runs_the_oldest_are_cancelled_whatever_their_priority() {
        declare(1, WhenKeyFull.WAIT);
        for (int age = 0; age < 3; age++) {
            int priority = age;
            List<Change> starts = IntStream.range(0, 50)
                    .<Change>mapToObj(i -> new Change.Start(
                            withPriority(run(priority + "-" + i), priority).withQueueKey("x"), null))
                    .toList();
            assertThat(store().ledger().apply(Lane.client(0), starts)).allMatch(Outcome.Started.class::isInstance);
        }
        store().queues().apply(new Order.Limit(Queue.named(LIMITED).whenKeyFull(WhenKeyFull.CANCEL_OLDEST)));
        startReady(run("newest"));
        assertThat(cancelled(0)).isEqualTo(50);
        assertThat(cancelled(1)).isEqualTo(50);
        assertThat(stateOf(refOf(OF_KEY + "newest"))).isEqualTo(RunState.READY);
    }

    private long cancelled(int age) {
        return IntStream.range(0, 50)
                .filter(i -> stateOf(refOf(OF_KEY + age + "-" + i)) == RunState.CANCELLED)
                .count();
    }

    @Test
    void a_repeated_start_cancels_nothing_more() {
        declare(1, WhenKeyFull.CANCEL_OLDEST);
        startReady(run("first"));
        NewRun second = run("second");
        RunRef ref = startReady(second);
        RunRef third = startReady(run("third"));
        assertThat(startReady(second)).isEqualTo(ref);
        assertThat(stateOf(third)).isEqualTo(RunState.READY);
    }

    @Test
    void tasks_and_calls_of_objects_do_not_give_way() {
        declare(1, WhenKeyFull.CANCEL_OLDEST);
        RunRef call =
                startReady(run("call").on(new ObjectCall(new ObjectKey("counter", "1"), ObjectCall.Hold.EXCLUSIVE)));
        RunRef first = startReady(run("first"));
        RunRef second = startReady(run("second"));
        assertThat(stateOf(call)).isEqualTo(RunState.READY);
        assertThat(stateOf(first)).isEqualTo(RunState.CANCELLED);
        assertThat(stateOf(second)).isEqualTo(RunState.READY);
    }

    @Test
    void tasks_and_calls_of_objects_count_where_the_oldest_run_gives_way() {
        declare(2, WhenKeyFull.CANCEL_OLDEST);
        startReady(run("call").on(new ObjectCall(new ObjectKey("counter", "1"), ObjectCall.Hold.EXCLUSIVE)));
        RunRef first = startReady(run("first"));
        RunRef second = startReady(run("second"));
        assertThat(stateOf(first)).isEqualTo(RunState.CANCELLED);
        assertThat(stateOf(second)).isEqualTo(RunState.READY);
        assertThat(claim(join())).hasSize(2);
    }

    // ---- with other options, and at once

    @Test
    void a_start_that_replaces_a_run_under_another_key_of_the_queue_needs_a_place() {
        declare(1, WhenKeyFull.REFUSE);
        RunRef first = startReady(run("first"));
        StartKey.Deduplication one = StartKey.deduplicate("k");
        RunRef other = startReady(withQueue(newRun("y/other"), LIMITED)
                .withQueueKey("y")
                .withAdmission(Admission.UNCONDITIONAL.withKey(one, false)));

        NewRun replacing = run("replacing").withAdmission(Admission.UNCONDITIONAL.withKey(one.replace(), false));
        assertThat(start(replacing)).isEqualTo(full(1, "first"));
        assertThat(stateOf(other)).isEqualTo(RunState.READY);
        command(first, Change.CommandKind.KILL, "next");
        startReady(replacing);
        assertThat(stateOf(other)).isEqualTo(RunState.CANCELLED);
    }

    @Test
    void a_start_key_is_asked_first_and_a_start_that_replaces_needs_no_place() {
        declare(1, WhenKeyFull.REFUSE);
        StartKey.Deduplication one = StartKey.deduplicate("k");
        NewRun first = run("first").withAdmission(Admission.UNCONDITIONAL.withKey(one, false));
        RunRef ref = startReady(first);
        assertThat(start(withInput(run("second"), first.input())
                        .withQueueKey("x")
                        .withAdmission(Admission.UNCONDITIONAL.withKey(one, false))))
                .isEqualTo(new Outcome.Existing(ref, DEFINITION, true));
        assertThat(start(run("third")
                        .withAdmission(Admission.UNCONDITIONAL.withKey(StartKey.deduplicate("other"), false))))
                .isEqualTo(full(1, "first"));
        RunRef replacing =
                startReady(run("fourth").withAdmission(Admission.UNCONDITIONAL.withKey(one.replace(), false)));
        assertThat(stateOf(ref)).isEqualTo(RunState.CANCELLED);
        assertThat(stateOf(replacing)).isEqualTo(RunState.READY);
    }

    @Test
    void starts_of_one_batch_are_counted_one_after_another() {
        declare(2, WhenKeyFull.REFUSE);
        List<Change> starts = List.of(
                new Change.Start(run("a"), null),
                new Change.Start(newRun("elsewhere"), null),
                new Change.Start(run("b"), null),
                new Change.Start(run("c"), null));
        List<Outcome> outcomes = store().ledger().apply(Lane.client(0), starts);
        assertThat(outcomes.subList(0, 3)).allMatch(Outcome.Started.class::isInstance);
        assertThat(outcomes.getLast()).isEqualTo(full(2, "a", "b"));
    }

    @Test
    void of_many_starts_at_once_as_many_begin_as_there_are_places() throws Exception {
        declare(3, WhenKeyFull.REFUSE);
        List<Callable<Outcome>> calls = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            calls.add(starting(run("run-" + i)));
        }
        List<Outcome> outcomes = atOnce(calls);
        assertThat(outcomes).filteredOn(Outcome.Started.class::isInstance).hasSize(3);
        assertThat(outcomes).filteredOn(Outcome.KeyFull.class::isInstance).hasSize(9);
    }

    @Test
    void of_two_starts_under_one_id_at_once_one_starts_the_run_and_the_other_attaches() throws Exception {
        for (WhenKeyFull policy : WhenKeyFull.values()) {
            declare(1, policy);
            for (int round = 0; round < 5; round++) {
                String name = policy + "-" + round;
                List<Outcome> outcomes = atOnce(List.of(starting(run(name)), starting(run(name))));
                RunRef ref = refOf(OF_KEY + name);
                assertThat(outcomes)
                        .filteredOn(Outcome.Started.class::isInstance)
                        .hasSize(1);
                assertThat(outcomes).contains(new Outcome.Existing(ref, DEFINITION, true));
                assertStartedOnce(ref);
            }
        }
    }

    @Test
    void a_start_that_is_sent_twice_at_once_does_not_end_its_own_run() throws Exception {
        for (WhenKeyFull policy : WhenKeyFull.values()) {
            declare(1, policy);
            for (int round = 0; round < 5; round++) {
                NewRun run = run(policy + "-" + round);
                assertThat(atOnce(Collections.nCopies(2, starting(run)))).allMatch(Outcome.Started.class::isInstance);
                assertStartedOnce(refOf(run.id().value()));
            }
        }
    }

    /** Frees the key for what follows. */
    private void assertStartedOnce(RunRef run) {
        assertThat(changesOf(run)).containsExactly("READY");
        command(run, Change.CommandKind.KILL, "next");
    }

    private Callable<Outcome> starting(NewRun run) {
        return () -> start(run);
    }

    private static List<Outcome> atOnce(List<Callable<Outcome>> calls) throws Exception {
        List<Outcome> outcomes = new ArrayList<>();
        try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
            for (Future<Outcome> each : threads.invokeAll(calls)) {
                outcomes.add(each.get());
            }
        }
        return outcomes;
    }
}
