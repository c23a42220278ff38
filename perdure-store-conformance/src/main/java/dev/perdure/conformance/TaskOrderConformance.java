package dev.perdure.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.spi.Dispatch;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Mailboxes.Address;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Change.CommandKind;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Due;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.Parent;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What people want of runs with tasks: cancel, kill, pause, and another life. */
public abstract class TaskOrderConformance extends DagConformance {
    private static final long NEW_SEED = 4711;

    /** For subclasses. */
    protected TaskOrderConformance() {}

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
                .containsExactly("b not wanted", "c not wanted");
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
        assertThat(command(refOf("b"), CommandKind.KILL, "enough")).isEqualTo(unchanged(RunState.PENDING));
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

    // ---- another life

    private Outcome rerun(String... tasks) {
        return rerun(NEW_SEED, tasks);
    }

    private Outcome rerun(long seed, String... tasks) {
        return apply(
                Lane.client(0),
                new Change.Rerun(
                        RunId.of("dag"), Stream.of(tasks).map(RunId::of).toList(), seed));
    }

    /** A diamond of which b completed and c failed, and with it all the rest. */
    private WorkerId brokenDiamond() {
        WorkerId worker = join();
        List<Claimed> middle =
                complete(worker, start(worker, diamond()).handed().getFirst(), 2);
        Claimed c = middle.get(1);
        deliver(c.run(), mail(Channel.message("news"), "old"));
        complete(worker, middle.get(0), 0);
        apply(worker, advance(c.run(), 1, new Move.End(RunState.FAILED, payload("{}"), "it broke"), step(1, "1")));
        for (String id : List.of("d", "dag")) {
            Claimed next = claimOne(worker);
            assertThat(next.run().id().value()).isEqualTo(id);
            apply(worker, advance(next.run(), 1, new Move.End(RunState.FAILED, payload("{}"), "c broke")));
        }
        return worker;
    }

    @Test
    void a_rerun_gives_some_tasks_another_life_and_keeps_the_others() {
        WorkerId worker = brokenDiamond();
        assertThat(rerun("c", "d")).isEqualTo(new Outcome.Applied(now(), RunState.PENDING));
        assertThat(statesOf("dag", "a", "b", "c", "d"))
                .containsExactly(
                        RunState.PENDING, RunState.COMPLETED, RunState.COMPLETED, RunState.READY, RunState.PENDING);
        assertThat(store().runs().ended(List.of(refOf("c"), refOf("d"), refOf("dag"))))
                .isEmpty();
        assertThat(store().runs().liveChildren(List.of(refOf("dag"))))
                .containsExactlyInAnyOrder(refOf("c"), refOf("d"));

        Claimed c = claimOne(worker);
        assertThat(c.epoch()).isGreaterThan(1);
        assertThat(c.input()).isEqualTo(payload("\"input of c\""));
        assertThat(c.control().cancel()).isNull();
        assertThat(journalOf(c.run())).isEmpty();
        assertThat(unread(c.run())).isEmpty();
        assertThat(told(c.premises())).containsExactly("a COMPLETED a");
        Claimed d = complete(worker, c, 1).getFirst();
        assertThat(told(d.premises())).containsExactly("b COMPLETED b", "c COMPLETED c");
        Claimed dag = complete(worker, d, 1).getFirst();
        assertThat(dag.seed()).isEqualTo(NEW_SEED);
        complete(worker, dag, 1);
        assertThat(statesOf("dag", "c", "d")).containsOnly(RunState.COMPLETED);
        assertThat(store().runs().tasks(dag.run()).get(2).history())
                .extracting(Runs.Entered::state)
                .containsExactly(
                        RunState.PENDING,
                        RunState.RUNNING,
                        RunState.FAILED,
                        RunState.READY,
                        RunState.RUNNING,
                        RunState.COMPLETED);
    }

    @Test
    void a_rerun_that_was_sent_twice_is_one() {
        WorkerId worker = brokenDiamond();
        rerun("c", "d");
        assertThat(rerun("c", "d")).isEqualTo(new Outcome.AlreadyThere(now(), RunState.PENDING));
        complete(worker, claimOne(worker), 0);
        assertThat(rerun("c", "d")).isInstanceOf(Outcome.AlreadyThere.class);
        assertThat(stateOf(refOf("c"))).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void a_task_gets_a_new_seed_with_every_life() {
        WorkerId worker = brokenDiamond();
        rerun(1, "d");
        Claimed first = claimOne(worker);
        complete(worker, complete(worker, first, 1).getFirst(), 0);
        rerun(2, "d");
        assertThat(claimOne(worker).seed()).isEqualTo(first.seed() ^ 2);
    }

    @Test
    void what_was_asked_of_the_old_life_is_forgotten() {
        WorkerId worker = join();
        Claimed a = start(worker, List.of(task("a"))).handed().getFirst();
        command(a.run(), CommandKind.CANCEL, "not wanted");
        apply(worker, advance(a.run(), 1, new Move.End(RunState.CANCELLED, payload(""), "not wanted")));
        command(refOf("dag"), CommandKind.KILL, "enough");
        rerun("a");

        Claimed again = claimOne(worker);
        assertThat(again.control().cancel()).isNull();
        assertThat(again.control().wakes()).isZero();
        command(again.run(), CommandKind.CANCEL, "again");
        assertThat(polled(worker, 0).signalled()).hasSize(1);
    }

    @Test
    void what_the_old_life_asked_for_does_not_answer_the_new_one() {
        WorkerId worker = join();
        Claimed a = start(worker, List.of(task("a"))).handed().getFirst();
        List<Effect> asks = List.of(
                new Effect.Awakeable("first", 2),
                new Effect.Subscribe("paid", "", 3),
                new Effect.Start(newRun("child").withParent(new Parent(a.run(), 4, true))));
        apply(worker, advance(a.run(), 1, new Move.Stay(), asks, step(1, "1")));
        Address asked = store().mailboxes().awakeable("first").orElseThrow();
        Address subscribed = store().mailboxes().subscribers("paid", "").getFirst();
        apply(worker, advance(a.run(), 1, new Move.End(RunState.FAILED, payload(""), "broken")));
        command(refOf("dag"), CommandKind.KILL, "enough");
        rerun("a");
        List<Claimed> claimed = polled(worker, 5).claimed();
        assertThat(ids(claimed)).containsExactlyInAnyOrder("a", "child");
        Claimed again = claimed.stream()
                .filter(claim -> claim.run().equals(a.run()))
                .findFirst()
                .orElseThrow();
        Move wait = await(1, Channel.answer(2), Channel.answer(3), Channel.answer(4));
        apply(worker, advance(again.run(), again.epoch(), wait));

        assertThat(store().mailboxes().awakeable("first")).isEmpty();
        assertThat(store().mailboxes().subscribers("paid", "")).isEmpty();
        for (Address address : List.of(asked, subscribed)) {
            Change late =
                    new Change.Deliver(address.run(), mail(Channel.answer(address.position()), "late"), address.life());
            assertThat(apply(Lane.client(0), late))
                    .isEqualTo(new Outcome.Undelivered(Outcome.Undelivered.Why.BEGAN_ANEW));
        }
        complete(
                worker,
                claimed.stream()
                        .filter(claim -> !claim.equals(again))
                        .findFirst()
                        .orElseThrow(),
                0);
        assertThat(unread(again.run())).isEmpty();
        assertThat(stateOf(again.run())).isEqualTo(RunState.SUSPENDED);
    }

    @Test
    void mail_of_the_old_life_is_gone_and_stays_known() {
        WorkerId worker = join();
        Claimed a = start(worker, List.of(task("a"))).handed().getFirst();
        Mail message = mail(Channel.message("news"), "1");
        Mail promise = mail(Channel.promise("paid"), "2");
        deliver(a.run(), message);
        deliver(a.run(), promise);
        for (int seed = 1; seed <= 2; seed++) {
            Claimed present = seed == 1 ? a : claimOne(worker);
            apply(
                    worker,
                    advance(present.run(), present.epoch(), new Move.End(RunState.FAILED, payload(""), "broken")));
            command(refOf("dag"), CommandKind.KILL, "enough");
            assertThat(rerun(seed, "a")).isInstanceOf(Outcome.Applied.class);
            assertThat(unread(a.run())).isEmpty();
            assertThat(store().mailboxes().promise(a.run(), "paid")).isEmpty();
            assertThat(deliver(a.run(), message)).isInstanceOf(Outcome.AlreadyThere.class);
            Mail again = mail(Channel.promise("paid"), "again " + seed);
            assertThat(deliver(a.run(), again)).isInstanceOf(Outcome.Applied.class);
            assertThat(store().mailboxes().promise(a.run(), "paid")).contains(again);
        }
        assertThat(unread(a.run())).containsExactly("again 2");
    }

    @Test
    void only_what_has_ended_is_run_again() {
        WorkerId worker = join();
        Outcome.Started started = start(worker, List.of(task("a"), task("b"), task("c", 0)));
        RunRef stranger = startOwned(worker, "stranger");
        assertThat(rerun("a"))
                .isEqualTo(new Outcome.Refused("The run 'dag' is PENDING. Wait until it has ended, or cancel it."));
        command(started.run(), CommandKind.KILL, "enough");
        assertThat(rerun("c", "b"))
                .isEqualTo(new Outcome.Refused("The run 'b' is RUNNING. Wait until it has ended, or cancel it."));
        assertThat(rerun("c", "stranger"))
                .isEqualTo(new Outcome.Refused("The run 'stranger' is no task of 'dag'. Name tasks of that run only."));
        assertThat(rerun("nobody")).isInstanceOf(Outcome.Refused.class);
        assertThat(apply(Lane.client(0), new Change.Rerun(stranger.id(), List.of(), 1)))
                .isEqualTo(new Outcome.Refused("The run 'stranger' has no tasks. Start a new run instead."));
        assertThat(apply(Lane.client(0), new Change.Rerun(RunId.of("nobody"), List.of(), 1)))
                .isEqualTo(new Outcome.UnknownRun());
        assertThat(statesOf("dag", "a", "b", "c"))
                .containsExactly(RunState.CANCELLED, RunState.RUNNING, RunState.RUNNING, RunState.CANCELLED);
    }

    @Test
    void another_life_waits_for_those_of_the_old_that_still_run() {
        WorkerId worker = join();
        Outcome.Started started = start(worker, List.of(task("a"), task("b", 0)));
        command(started.run(), CommandKind.KILL, "enough");
        assertThat(rerun("b")).isEqualTo(new Outcome.Applied(now(), RunState.PENDING));
        assertThat(stateOf(refOf("b"))).isEqualTo(RunState.PENDING);

        assertThat(ids(complete(worker, started.handed().getFirst(), 1))).containsExactly("b");
    }

    @Test
    void reruns_of_one_batch_do_not_disturb_each_other() {
        WorkerId worker = join();
        for (String id : List.of("g1", "g2")) {
            Claimed root =
                    start(worker, newRun(id), List.of(task(id + "/a"))).handed().getFirst();
            complete(worker, complete(worker, root, 1).getFirst(), 0);
        }
        List<Outcome> outcomes = store().ledger()
                .apply(
                        Lane.client(0),
                        List.of(
                                new Change.Rerun(RunId.of("g1"), List.of(RunId.of("g1/a")), 1),
                                new Change.Rerun(RunId.of("nobody"), List.of(), 2),
                                new Change.Rerun(RunId.of("g2"), List.of(RunId.of("g1/a")), 3)));

        assertThat(outcomes)
                .containsExactly(
                        new Outcome.Applied(now(), RunState.PENDING),
                        new Outcome.UnknownRun(),
                        new Outcome.Refused("The run 'g1/a' is no task of 'g2'. Name tasks of that run only."));
        assertThat(statesOf("g1", "g1/a", "g2")).containsExactly(RunState.PENDING, RunState.READY, RunState.COMPLETED);
    }
}
