package dev.perdure.conformance.dag;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.spi.Dispatch;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Change.CommandKind;
import dev.perdure.spi.change.Due;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Commands to runs with tasks and to tasks: cancel, kill, pause and resume. */
public abstract class TaskCommandConformance extends DagConformance {
    /** For subclasses. */
    protected TaskCommandConformance() {}

    // ---- cancel

    @Test
    void a_cancelled_run_with_tasks_is_ready_at_once_to_pass_it_on() {
        WorkerId worker = join();
        Outcome.Started started = start(worker, diamond());
        command(started.run(), CommandKind.CANCEL, "not wanted");

        Claimed dag = claimOne(worker);
        assertThat(dag.run()).isEqualTo(started.run());
        assertThat(dag.control().cancel()).isEqualTo("not wanted");
        assertThat(told(dag.premises())).containsExactly("d PENDING");
        List<Effect> cancels = Stream.of("a", "b", "c", "d")
                .<Effect>map(id -> new Effect.Cancel(RunId.of(id), "not wanted"))
                .toList();
        assertThat(apply(worker, advance(dag.run(), dag.epoch(), new Move.Stay(), cancels)))
                .isInstanceOf(Outcome.Applied.class);
        assertThat(statesOf("dag", "a", "b", "c", "d"))
                .containsExactly(
                        RunState.RUNNING, RunState.RUNNING, RunState.PENDING, RunState.PENDING, RunState.PENDING);
        assertThat(complete(worker, started.handed().getFirst(), 5))
                .extracting(
                        task -> task.run().id().value() + " " + task.control().cancel())
                .containsExactly("b its DAG was cancelled: not wanted", "c its DAG was cancelled: not wanted");
    }

    @Test
    void a_cancel_takes_the_tasks_along_in_its_commit() {
        WorkerId worker = join();
        Outcome.Started started =
                start(worker, List.of(task("a"), task("b"), task("c", 0), task("d", 1), task("e", 2), task("f")));
        for (int i = 1; i < 3; i++) { // b and f go back into the queue, one of them before it has run at all
            Claimed held = started.handed().get(i);
            apply(worker, advance(held.run(), held.epoch(), new Move.Yield()));
        }
        RunRef waiting = start(null, newRun("other"), List.of(task("g"), task("h"), task("i", 0, 1)))
                .run();

        assertThat(command(waiting, CommandKind.CANCEL, "not wanted")).isEqualTo(changed(RunState.READY));
        assertThat(statesOf("g", "h")).containsOnly(RunState.CANCELLED);
        assertThat(found(refOf("g")).info().reason()).hasValue("its DAG was cancelled: not wanted");
        assertThat(statesOf("i")).containsOnly(RunState.READY);
        command(started.run(), CommandKind.CANCEL, "not wanted either");
        assertThat(polled(worker, 0).signalled())
                .extracting(signal ->
                        signal.run().id().value() + " " + signal.control().cancel())
                .containsExactly("a its DAG was cancelled: not wanted either");
        assertThat(statesOf("a", "b", "c", "d", "e", "f"))
                .containsExactly(
                        RunState.RUNNING,
                        RunState.READY,
                        RunState.PENDING,
                        RunState.PENDING,
                        RunState.PENDING,
                        RunState.READY);
        assertThat(complete(worker, started.handed().getFirst(), 5))
                .extracting(
                        task -> task.run().id().value() + " " + task.control().cancel())
                .containsExactly("c its DAG was cancelled: not wanted either");
    }

    @Test
    void a_cancel_by_a_transition_takes_the_tasks_along_too() {
        WorkerId worker = join();
        RunRef dag = start(null, List.of(task("a"), task("b", 0))).run();
        RunRef parent = startOwned(worker, "parent");
        Effect cancel = new Effect.Cancel(dag.id(), "its parent");
        assertThat(apply(worker, advance(parent, 1, new Move.Stay(), List.of(cancel))))
                .isInstanceOf(Outcome.Applied.class);
        assertThat(statesOf("dag", "a", "b")).containsExactly(RunState.READY, RunState.CANCELLED, RunState.READY);
    }

    @Test
    void a_refused_cancel_leaves_the_tasks_alone() {
        RunRef dag = start(null, List.of(task("a"))).run();
        Change.Seen other = new Change.Seen(now().minusSeconds(1), now());
        apply(Lane.client(0), new Change.Command(dag.id(), CommandKind.CANCEL, "no", null, other));
        WorkerId gone = new WorkerId(UUID.randomUUID());
        RunRef parent = startReady("parent");
        apply(gone, advance(parent, 1, new Move.Stay(), List.of(new Effect.Cancel(dag.id(), "no"))));
        assertThat(statesOf("dag", "a")).containsExactly(RunState.PENDING, RunState.READY);
        assertThat(claimOne(join()).control().cancel()).isNull();
    }

    @Test
    void a_run_that_began_early_waits_again_until_the_last_of_those_has_ended_that_it_comes_after() {
        WorkerId worker = join();
        Outcome.Started started = start(worker, List.of(task("a"), task("b")));
        command(started.run(), CommandKind.CANCEL, "not wanted");
        Claimed early = claimOne(worker);

        Change.Advance wait = advance(early.run(), early.epoch(), forPremises(early), step(1, "1"));
        assertThat(apply(worker, wait)).isEqualTo(new Outcome.Applied(now(), RunState.PENDING));
        assertThat(apply(worker, wait)).isEqualTo(new Outcome.AlreadyThere(now(), RunState.PENDING));
        command(early.run(), CommandKind.CANCEL, "again");
        assertThat(complete(worker, started.handed().get(0), 5)).isEmpty();
        assertThat(stateOf(early.run())).isEqualTo(RunState.PENDING);
        Claimed dag = complete(worker, started.handed().get(1), 5).getFirst();
        assertThat(dag.control().cancel()).isEqualTo("not wanted");
        assertThat(told(dag.premises())).containsExactly("a COMPLETED a", "b COMPLETED b");
        assertThat(journalOf(dag.run())).hasSize(1);
    }

    @Test
    void a_run_stays_if_all_have_ended_that_it_would_wait_for() {
        WorkerId worker = join();
        Outcome.Started started = start(worker, List.of(task("a")));
        command(started.run(), CommandKind.CANCEL, "not wanted");
        Claimed early = claimOne(worker);
        complete(worker, started.handed().getFirst(), 5);

        Change.Advance wait = advance(early.run(), early.epoch(), forPremises(early), step(1, "1"));
        assertThat(apply(worker, wait)).isEqualTo(new Outcome.Woken(now(), early.control()));
        assertThat(stateOf(early.run())).isEqualTo(RunState.RUNNING);
        assertThat(journalOf(early.run())).hasSize(1);
    }

    private static Move forPremises(Claimed run) {
        return new Move.Wait(RunState.PENDING, new Due.Never(), run.control().wakes());
    }

    @Test
    void a_task_that_is_cancelled_while_it_waits_gets_to_know_it_when_its_turn_has_come() {
        WorkerId worker = join();
        Claimed a = start(worker, List.of(task("a"), task("b", 0), task("c", 1)))
                .handed()
                .getFirst();
        command(refOf("b"), CommandKind.CANCEL, "not wanted");
        assertThat(statesOf("b", "c", "dag")).containsOnly(RunState.PENDING);

        Claimed b = complete(worker, a, 5).getFirst();
        assertThat(b.control().cancel()).isEqualTo("not wanted");
        assertThat(apply(
                        worker,
                        advance(b.run(), b.epoch(), new Move.End(RunState.CANCELLED, payload(""), "not wanted"))))
                .isInstanceOf(Outcome.Applied.class);
        assertThat(told(claimOne(worker).premises())).containsExactly("b CANCELLED  not wanted");
    }

    @Test
    void a_task_that_was_cancelled_during_a_pause_waits_on_after_it() {
        start(null, List.of(task("a"), task("b", 0)));
        command(refOf("b"), CommandKind.PAUSE, "wait");
        command(refOf("b"), CommandKind.CANCEL, "not wanted");
        assertThat(stateOf(refOf("b"))).isEqualTo(RunState.PAUSED);
        command(refOf("b"), CommandKind.RESUME, "");
        assertThat(statesOf("b", "dag")).containsOnly(RunState.PENDING);
    }

    @Test
    void a_cancel_of_a_paused_run_with_tasks_waits_for_the_resume() {
        RunRef dag = start(null, diamond()).run();
        command(dag, CommandKind.PAUSE, "wait");
        command(dag, CommandKind.CANCEL, "not wanted");
        assertThat(stateOf(dag)).isEqualTo(RunState.PAUSED);

        command(dag, CommandKind.RESUME, "");
        assertThat(stateOf(dag)).isEqualTo(RunState.READY);
    }

    // ---- kill

    @Test
    void a_kill_takes_the_tasks_along() {
        WorkerId worker = join();
        Outcome.Started started = start(worker, List.of(task("a"), task("b"), task("c", 0), task("d", 2)));
        complete(worker, started.handed().getFirst(), 0);

        assertThat(command(started.run(), CommandKind.KILL, "enough")).isEqualTo(changed(RunState.CANCELLED));
        assertThat(statesOf("dag", "a", "b", "c", "d"))
                .containsExactly(
                        RunState.CANCELLED,
                        RunState.COMPLETED,
                        RunState.RUNNING,
                        RunState.CANCELLED,
                        RunState.CANCELLED);
        assertThat(polled(worker, 10).claimed()).isEmpty();
        assertThat(polled(worker, 0).signalled())
                .extracting(signal ->
                        signal.run().id().value() + " " + signal.control().kill())
                .containsExactly("b enough");
        assertThat(changesOf(refOf("d"))).containsExactly("PENDING", "CANCELLED: enough");
        assertThat(command(started.run(), CommandKind.KILL, "again")).isEqualTo(unchanged(RunState.CANCELLED));
    }

    @Test
    void a_killed_task_lets_others_begin() {
        start(null, List.of(task("a"), task("b", 0)));
        command(refOf("a"), CommandKind.KILL, "enough");

        assertThat(statesOf("dag", "a", "b")).containsExactly(RunState.PENDING, RunState.CANCELLED, RunState.READY);
    }

    /** Ends a task that was handed over with a kill, as its worker does. */
    private List<Claimed> obeyKill(WorkerId worker, Claimed task) {
        String reason = Objects.requireNonNull(task.control().kill());
        Outcome outcome = apply(
                worker, advance(task.run(), task.epoch(), new Move.End(RunState.CANCELLED, payload(""), reason, 5)));
        assertThat(outcome).isInstanceOf(Outcome.Applied.class);
        return ((Outcome.Applied) outcome).handed();
    }

    @Test
    void a_leaf_that_is_killed_while_it_waits_ends_after_what_it_comes_after() {
        WorkerId worker = join();
        Claimed a = start(worker, List.of(task("a"), task("b", 0))).handed().getFirst();
        assertThat(command(refOf("b"), CommandKind.KILL, "enough")).isEqualTo(left(RunState.PENDING));
        assertThat(statesOf("a", "b", "dag")).containsExactly(RunState.RUNNING, RunState.PENDING, RunState.PENDING);

        Move failure = new Move.End(RunState.FAILED, payload("{}"), "it broke", 5);
        Outcome failed = apply(worker, advance(a.run(), a.epoch(), failure));
        Claimed b = ((Outcome.Applied) failed).handed().getFirst();
        Claimed dag = obeyKill(worker, b).getFirst();
        assertThat(told(dag.premises())).containsExactly("b CANCELLED  enough");
        assertThat(statesOf("a", "b", "dag")).containsExactly(RunState.FAILED, RunState.CANCELLED, RunState.RUNNING);
    }

    @Test
    void a_task_in_the_middle_that_is_killed_while_it_waits_lets_others_begin_after_what_it_comes_after() {
        WorkerId worker = join();
        Claimed a = start(worker, line(3)).handed().getFirst();
        command(refOf("t1"), CommandKind.KILL, "enough");
        command(refOf("t1"), CommandKind.PAUSE, "wait");
        assertThat(statesOf("t1", "t2", "dag")).containsOnly(RunState.PENDING);

        Claimed killed = complete(worker, a, 0).isEmpty() ? claimOne(worker) : null;
        assertThat(ids(obeyKill(worker, Objects.requireNonNull(killed)))).containsExactly("t2");
    }

    @Test
    void a_paused_task_that_is_killed_waits_for_its_turn_without_the_pause() {
        WorkerId worker = join();
        Claimed a = start(worker, List.of(task("a"), task("b", 0))).handed().getFirst();
        command(refOf("b"), CommandKind.PAUSE, "wait");
        command(refOf("b"), CommandKind.KILL, "enough");
        assertThat(stateOf(refOf("b"))).isEqualTo(RunState.PENDING);

        assertThat(ids(obeyKill(worker, complete(worker, a, 1).getFirst()))).containsExactly("dag");
    }

    @Test
    void tasks_that_were_killed_before_end_with_a_killed_dag() {
        WorkerId worker = join();
        start(worker, List.of(task("a"), task("b", 0)));
        command(refOf("b"), CommandKind.KILL, "enough");
        command(refOf("dag"), CommandKind.KILL, "all of it");
        assertThat(statesOf("a", "b", "dag")).containsExactly(RunState.RUNNING, RunState.CANCELLED, RunState.CANCELLED);
    }

    // ---- pause

    @Test
    void a_task_that_is_paused_while_it_waits_goes_back_to_waiting() {
        WorkerId worker = join();
        List<Claimed> held =
                start(worker, List.of(task("a"), task("b"), task("c", 0, 1))).handed();
        command(refOf("c"), CommandKind.PAUSE, "wait");
        assertThat(complete(worker, held.get(0), 5)).isEmpty();
        command(refOf("c"), CommandKind.RESUME, "");

        assertThat(stateOf(refOf("c"))).isEqualTo(RunState.PENDING);
        assertThat(ids(complete(worker, held.get(1), 5))).containsExactly("c");
    }

    @Test
    void what_ends_during_a_pause_is_counted() {
        WorkerId worker = join();
        Claimed a = start(worker, List.of(task("a"), task("b", 0))).handed().getFirst();
        command(refOf("b"), CommandKind.PAUSE, "wait");
        assertThat(complete(worker, a, 5)).isEmpty();
        assertThat(stateOf(refOf("b"))).isEqualTo(RunState.PAUSED);

        command(refOf("b"), CommandKind.RESUME, "");
        assertThat(told(claimOne(worker).premises())).containsExactly("a COMPLETED a");
    }

    // ---- in the queue

    /** A DAG that began early, was recovered until it has to run alone, waits for its tasks again, and is ready now. */
    private RunRef oftenRecoveredAndReady() {
        WorkerId worker = join();
        Outcome.Started started = start(worker, List.of(task("a")));
        command(started.run(), CommandKind.CANCEL, "not wanted");
        for (int i = 0; i < Claimed.ALONE_AFTER; i++) {
            WorkerId dying = join();
            assertThat(claimOne(dying).run()).isEqualTo(started.run());
            store().leases().leave(dying);
            store().leases().sweep(10);
        }
        Claimed early = claimOne(worker);
        assertThat(early.recoveries()).isEqualTo(Claimed.ALONE_AFTER);
        apply(worker, advance(early.run(), early.epoch(), forPremises(early)));
        complete(worker, started.handed().getFirst(), 0);
        assertThat(stateOf(started.run())).isEqualTo(RunState.READY);
        return started.run();
    }

    @Test
    void a_run_that_was_recovered_often_is_in_the_queue_once_after_pause_and_resume() {
        RunRef dag = oftenRecoveredAndReady();
        command(dag, CommandKind.PAUSE, "wait");
        command(dag, CommandKind.RESUME, "");
        startReady("other");

        assertThat(claimedIds(poll(join(), 10))).containsExactlyInAnyOrder("dag", "other");
    }

    @Test
    void a_killed_run_that_was_recovered_often_takes_no_place_in_the_queue() {
        RunRef dag = oftenRecoveredAndReady();
        command(dag, CommandKind.KILL, "enough");
        startReady("other");

        assertThat(claimedIds(poll(join(), 1))).containsExactly("other");
    }

    @Test
    void a_run_that_was_recovered_often_has_to_run_alone_also_after_it_waited_for_others() {
        oftenRecoveredAndReady();
        WorkerId worker = join();
        assertThat(claimedIds(new Dispatch.Poll(worker, Set.of(DEFINITION), Set.of(QUEUE), null, 10, false)))
                .isEmpty();
        assertThat(claimedIds(poll(worker, 10))).containsExactly("dag");
    }

    @Test
    void a_dag_that_has_got_the_id_since_another_was_seen_keeps_its_tasks() {
        start(null, diamond());
        Change.Seen earlier = seen("dag");
        free("dag");
        start(null, diamond());

        assertThat(apply(Lane.client(0), new Change.Command(RunId.of("dag"), CommandKind.KILL, "no", null, earlier)))
                .isEqualTo(new Outcome.UnknownRun());
        assertThat(statesOf("dag", "a", "b")).containsExactly(RunState.PENDING, RunState.READY, RunState.PENDING);
    }
}
