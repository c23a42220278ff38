package dev.perdure.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunState;
import dev.perdure.queue.Queue;
import dev.perdure.spi.Dispatch.Poll;
import dev.perdure.spi.Dispatch.Polled;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Admission;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.ObjectKey;
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

/** Runs that have to begin within some time. */
public abstract class StartLimitConformance extends StoreConformance {
    private static final Duration LIMIT = Duration.ofMinutes(5);
    private static final String REASON = Admission.expired(LIMIT, QUEUE);

    /** For subclasses. */
    protected StartLimitConformance() {}

    private static NewRun limited(String id) {
        return newRun(id).withAdmission(new Admission(LIMIT));
    }

    /** A poll of a worker that takes nothing. */
    private Polled look(WorkerId worker) {
        return polled(worker, 0);
    }

    private void assertExpired(RunRef run) {
        assertThat(stateOf(run)).isEqualTo(RunState.CANCELLED);
        assertThat(found(run).info().reason()).contains(REASON);
    }

    @Test
    void a_run_that_has_not_begun_in_time_is_cancelled_by_any_poll() {
        RunRef run = startReady(limited("late"));
        WorkerId worker = join();
        advance(LIMIT.minusMillis(1));
        assertThat(look(worker).changed()).isEmpty();
        assertThat(stateOf(run)).isEqualTo(RunState.READY);
        advance(Duration.ofMillis(1));
        assertThat(look(worker).changed()).singleElement().satisfies(change -> {
            assertThat(change.runId()).isEqualTo(run.id());
            assertThat(change.definition()).isEqualTo(DEFINITION);
            assertThat(change.state()).isEqualTo(RunState.CANCELLED);
            assertThat(change.reason()).hasValue(REASON);
        });
        assertExpired(run);
        assertThat(changesOf(run)).containsExactly("READY", "CANCELLED: " + REASON);
        assertThat(look(worker).changed()).isEmpty();
        assertThat(polled(worker, 10).claimed()).isEmpty();
    }

    @Test
    void a_worker_that_comes_too_late_cancels_the_run_and_does_not_begin_it() {
        store().queues().declare(List.of(Queue.named("narrow").concurrency(5)));
        RunRef free = startReady(limited("free"));
        RunRef keyed = startReady(limited("keyed").withQueueKey("x"));
        RunRef narrow = startReady(withQueue(limited("narrow"), "narrow").withAdmission(new Admission(LIMIT)));
        Task task = new Task(newRun("dag/task"), List.of());
        apply(Lane.client(0), new Change.Start(limited("dag"), null, List.of(), List.of(task)));
        RunRef other = startReady("other");
        advance(LIMIT.plusHours(1));
        WorkerId worker = join();

        Poll all = new Poll(worker, Set.of(DEFINITION), Set.of(QUEUE, "narrow"), null, 10, true);
        assertThat(claimedIds(all)).containsExactly(other.id().value());
        assertThat(List.of(free, keyed, narrow, refOf("dag"), refOf("dag/task")))
                .extracting(this::stateOf)
                .containsOnly(RunState.CANCELLED);
    }

    @Test
    void a_start_that_is_refused_after_it_was_accepted_is_there_cancelled_with_the_reason() {
        Change.Start start =
                new Change.Start(newRun("refused").withAdmission(Admission.refused("It is too late.")), null);
        Outcome outcome = apply(Lane.client(0), start);
        assertThat(outcome).isInstanceOf(Outcome.Started.class);
        RunRef run = refOf("refused");
        assertThat(stateOf(run)).isEqualTo(RunState.CANCELLED);
        assertThat(found(run).info().reason()).contains("It is too late.");
        assertThat(apply(Lane.client(0), start)).as("sent twice").isInstanceOf(Outcome.Started.class);
        assertThat(changesOf(run)).containsExactly("READY", "CANCELLED: It is too late.");
        assertThat(polled(join(), 10).claimed()).isEmpty();
    }

    @Test
    void the_reason_names_the_time_and_the_queue() {
        assertThat(REASON)
                .isEqualTo(
                        "The run did not begin within PT5M in the queue '%s'. Add workers for the queue, or start the run with a longer startWithin."
                                .formatted(QUEUE));
    }

    @Test
    void the_next_due_time_is_that_of_the_limit() {
        startReady(limited("late"));
        assertThat(look(join()).nextDue()).isEqualTo(now().plus(LIMIT));
    }

    @Test
    void a_run_that_was_claimed_or_born_running_in_time_goes_on() {
        WorkerId worker = join();
        RunRef born = startOwned(worker, limited("born"));
        RunRef claimed = startReady(limited("claimed"));
        assertThat(claimOne(worker).run()).isEqualTo(claimed);
        advance(LIMIT);
        assertThat(look(worker).changed()).isEmpty();
        assertThat(stateOf(born)).isEqualTo(RunState.RUNNING);
        assertThat(stateOf(claimed)).isEqualTo(RunState.RUNNING);
        assertThat(apply(worker, advance(claimed, 1, complete("done")))).isInstanceOf(Outcome.Applied.class);
    }

    @Test
    void a_run_that_has_begun_and_is_ready_again_goes_on() {
        WorkerId worker = join();
        RunRef run = startReady(limited("again"));
        claimOne(worker);
        apply(worker, advance(run, 1, new Move.Yield()));
        advance(LIMIT);
        assertThat(look(worker).changed()).isEmpty();
        assertThat(stateOf(run)).isEqualTo(RunState.READY);
    }

    @Test
    void the_time_of_a_delayed_run_counts_from_the_end_of_its_delay() {
        Duration delay = Duration.ofHours(1);
        WorkerId worker = join();
        RunRef run = startReady(withDelay(newRun("delayed"), delay).withAdmission(new Admission(LIMIT)));
        advance(delay.plus(LIMIT).minusMillis(1));
        assertThat(look(worker).changed()).isEmpty();
        assertThat(stateOf(run)).isEqualTo(RunState.READY);
        advance(Duration.ofMillis(1));
        look(worker);
        assertExpired(run);
    }

    @Test
    void a_run_that_ended_before_keeps_its_end() {
        WorkerId worker = join();
        RunRef run = startReady(limited("killed"));
        command(run, Change.CommandKind.KILL, "not wanted");
        advance(LIMIT);
        assertThat(look(worker).changed()).isEmpty();
        assertThat(found(run).info().reason()).contains("not wanted");
    }

    @Test
    void a_paused_run_that_has_not_begun_is_cancelled_too() {
        RunRef run = startReady(limited("paused"));
        command(run, Change.CommandKind.PAUSE, "wait");
        advance(LIMIT);
        look(join());
        assertExpired(run);
    }

    @Test
    void a_call_that_waits_for_its_object_is_cancelled_and_the_next_one_gets_it() {
        WorkerId worker = join();
        ObjectCall call = new ObjectCall(new ObjectKey("cart", "k"), ObjectCall.Hold.EXCLUSIVE);
        RunRef holder = startOwned(worker, newRun("holder").on(call));
        RunRef late = startReady(limited("late").on(call));
        RunRef next = startReady(newRun("next").on(call));
        advance(LIMIT);
        look(worker);
        assertExpired(late);
        apply(worker, advance(holder, 1, complete("done")));
        assertThat(stateOf(next)).isEqualTo(RunState.READY);
    }

    @Test
    void a_dag_of_which_no_task_has_begun_is_cancelled_with_its_tasks() {
        List<Task> tasks = List.of(new Task(newRun("dag/0"), List.of()), new Task(newRun("dag/1"), List.of(0)));
        apply(Lane.client(0), new Change.Start(limited("dag"), null, List.of(), tasks));
        advance(LIMIT);
        WorkerId worker = join();
        assertThat(look(worker).changed()).hasSize(1);
        assertExpired(refOf("dag"));
        assertThat(stateOf(refOf("dag/0"))).isEqualTo(RunState.CANCELLED);
        assertThat(stateOf(refOf("dag/1"))).isEqualTo(RunState.CANCELLED);
        assertThat(polled(worker, 10).claimed()).isEmpty();
    }

    @Test
    void a_dag_of_which_a_task_has_begun_goes_on() {
        List<Task> tasks = List.of(new Task(newRun("dag/0"), List.of()), new Task(newRun("dag/1"), List.of(0)));
        apply(Lane.client(0), new Change.Start(limited("dag"), null, List.of(), tasks));
        WorkerId worker = join();
        RunRef first = claimOne(worker).run();
        advance(LIMIT);
        assertThat(look(worker).changed()).isEmpty();
        assertThat(stateOf(refOf("dag"))).isEqualTo(RunState.PENDING);
        assertThat(stateOf(first)).isEqualTo(RunState.RUNNING);
        assertThat(stateOf(refOf("dag/1"))).isEqualTo(RunState.PENDING);
    }

    @Test
    void the_parent_of_a_child_that_has_not_begun_in_time_gets_its_end() {
        WorkerId worker = join();
        RunRef parent = startOwned(worker, "parent");
        NewRun child = withQueue(child("child", parent, 1, true));
        Effect start = new Effect.Start(child.withAdmission(new Admission(LIMIT)));
        apply(worker, advance(parent, 1, new Move.Stay(), List.of(start), step(1, "begun")));
        advance(LIMIT);
        look(worker);
        assertThat(stateOf(refOf("child"))).isEqualTo(RunState.CANCELLED);
        assertThat(store().mailboxes().unread(parent, 0, 10))
                .singleElement()
                .satisfies(mail -> assertThat(mail.mail().channel()).isEqualTo(Channel.answer(1)));
    }

    private static NewRun withQueue(NewRun run) {
        return new NewRun(
                run.id(), run.definition(), run.input(), run.seed(), "elsewhere", 0, null, null, null, run.parent());
    }

    @Test
    void a_start_that_attaches_leaves_the_run_without_a_limit() {
        RunRef run = startReady("same");
        assertThat(apply(Lane.client(0), new Change.Start(limited("same"), null)))
                .isInstanceOf(Outcome.Existing.class);
        advance(LIMIT);
        look(join());
        assertThat(stateOf(run)).isEqualTo(RunState.READY);
    }

    @Test
    void of_many_workers_that_claim_and_expire_each_run_has_one_fate() throws Exception {
        int count = 60;
        List<Change> starts = IntStream.range(0, count)
                .<Change>mapToObj(i -> new Change.Start(limited("run-" + i), null))
                .toList();
        store().ledger().apply(Lane.client(0), starts);
        List<WorkerId> workers = List.of(join(), join(), join(), join());
        advance(LIMIT);
        List<String> claimed = new ArrayList<>();
        List<String> expired = new ArrayList<>();
        try (ExecutorService threads = Executors.newFixedThreadPool(workers.size())) {
            List<Callable<Polled>> polls = workers.stream()
                    .<Callable<Polled>>map(worker -> () -> polled(worker, 10))
                    .toList();
            for (Future<Polled> answer : threads.invokeAll(polls)) {
                answer.get().claimed().forEach(run -> claimed.add(run.run().id().value()));
                answer.get().changed().forEach(run -> expired.add(run.runId().value()));
            }
        }
        look(workers.getFirst())
                .changed()
                .forEach(run -> expired.add(run.runId().value()));
        assertThat(claimed).doesNotHaveDuplicates().doesNotContainAnyElementsOf(expired);
        assertThat(expired).doesNotHaveDuplicates();
        assertThat(claimed.size() + expired.size()).isEqualTo(count);
        claimed.forEach(id -> assertThat(stateOf(refOf(id))).isEqualTo(RunState.RUNNING));
        expired.forEach(id -> assertThat(stateOf(refOf(id))).isEqualTo(RunState.CANCELLED));
    }
}
