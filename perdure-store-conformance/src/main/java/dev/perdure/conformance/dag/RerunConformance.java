package dev.perdure.conformance.dag;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Journals;
import dev.perdure.spi.Mailboxes.Address;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Change.CommandKind;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Entry.Kind;
import dev.perdure.spi.change.Entry.Status;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Mail;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.Parent;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Reruns: a run with tasks, and some of its tasks, begin another life. */
public abstract class RerunConformance extends DagConformance {
    private static final long NEW_SEED = 4711;

    /** For subclasses. */
    protected RerunConformance() {}

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
                .isEqualTo(
                        new Outcome.Refused("The run 'stranger' is RUNNING. Wait until it has ended, or cancel it."));
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

    // ---- runs without tasks

    private static final Move FAIL = new Move.End(RunState.FAILED, payload("\"no\""), "it failed");

    private Outcome rerunOf(RunRef run, long seed) {
        return apply(Lane.client(0), new Change.Rerun(run.id(), List.of(), seed));
    }

    @Test
    void a_run_without_tasks_begins_anew_under_its_id() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, withTimeout(newRun("a"), Duration.ofMinutes(10)));
        apply(worker, advance(run, 1, STAY, step(1, "1")));
        deliver(run, mail(Channel.message("news"), "old"));
        apply(worker, advance(run, 1, FAIL, step(2, "2")));
        for (int life = 1; life <= 2; life++) {
            advance(Duration.ofDays(1));
            assertThat(rerunOf(run, life)).isEqualTo(new Outcome.Applied(now(), RunState.READY));
            assertThat(rerunOf(run, life)).isEqualTo(new Outcome.AlreadyThere(now(), RunState.READY));
            assertThat(journalOf(run)).isEmpty();
            assertThat(unread(run)).isEmpty();
            assertThat(store().runs().ended(List.of(run))).isEmpty();
            Claimed claimed = claimOne(worker);
            assertThat(claimed.input()).isEqualTo(newRun("a").input());
            assertThat(claimed.seed()).isEqualTo(life);
            assertThat(claimed.deadline()).isEqualTo(now().plus(Duration.ofMinutes(10)));
            assertThat(apply(worker, advance(run, 1, STAY, step(1, "late"))))
                    .isNotInstanceOf(Outcome.AlreadyThere.class);
            apply(worker, advance(run, claimed.epoch(), STAY, step(1, "again")));
            apply(worker, advance(run, claimed.epoch(), FAIL, step(2, "again")));
        }
        assertThat(changesOf(run).getLast()).isEqualTo("FAILED: it failed");
    }

    @Test
    void a_former_life_stays_in_the_history() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, newRun("a"));
        apply(worker, advance(run, 1, STAY, new Entry(1, 1, Kind.STEP, "s", Status.ATTEMPT, payload("1"))));
        apply(
                worker,
                advance(run, 1, FAIL, new Entry(1, 0, Kind.STEP, "s", Status.FAILURE, payload("2")), step(2, "2")));
        advance(Duration.ofSeconds(1));
        rerunOf(run, 1);
        Claimed claimed = claimOne(worker);
        apply(worker, advance(run, claimed.epoch(), FAIL, step(1, "3")));
        advance(Duration.ofSeconds(1));
        rerunOf(run, 2);

        List<String> history = new ArrayList<>();
        Journals.TimePlace place = Journals.TimePlace.FIRST;
        Journals.TimedPage page;
        do {
            page = store().journals().readByTime(run, place, 2, 1_000);
            for (Journals.Timed timed : page.entries()) {
                Entry entry = timed.recorded().entry();
                place = new Journals.TimePlace(timed.recorded().at(), entry.position(), entry.note());
                history.add("%s/%s %s %s %s %s"
                        .formatted(
                                entry.position(),
                                entry.note(),
                                entry.name(),
                                entry.status(),
                                timed.failedAttempts(),
                                entry.payload().size()));
            }
        } while (!page.last());
        assertThat(history)
                .containsExactly(
                        "1/0 s FAILURE 1 0", "1/1 s ATTEMPT 1 0", "2/0 step2 VALUE 0 0", "1/0 step1 VALUE 0 0");
        assertThat(store().journals().read(run, 0, 1_000).entries()).isEmpty();
    }

    @Test
    void a_rerun_is_for_a_run_as_it_ended() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, FAIL));
        Change.Rerun rerun =
                new Change.Rerun(run.id(), List.of(), 1, found(run).info().changedAt(), null);
        advance(Duration.ofSeconds(1));
        assertThat(apply(Lane.client(0), rerun)).isEqualTo(new Outcome.Applied(now(), RunState.READY));
        Claimed claimed = claimOne(worker);
        apply(worker, advance(run, claimed.epoch(), FAIL));
        rerunOf(run, 2);
        assertThat(apply(Lane.client(0), rerun)).isInstanceOf(Outcome.AlreadyThere.class);
        assertThat(claimOne(worker).seed()).isEqualTo(2);
    }

    @Test
    void what_others_have_based_on_the_end_of_a_run_stays_true() {
        WorkerId worker = join();
        RunRef done = startOwned(worker, "done");
        apply(worker, advance(done, 1, complete("1")));
        assertThat(rerunOf(done, 1))
                .isEqualTo(
                        new Outcome.Refused(
                                "The run 'done' is COMPLETED. Only a run that failed or was cancelled begins anew. Fork it from position 1 instead."));
        RunRef parent = startOwned(worker, "parent");
        RunRef child = startOwned(worker, child("child", parent, 1, true));
        apply(worker, advance(child, 1, FAIL));
        assertThat(rerunOf(child, 1))
                .isEqualTo(
                        new Outcome.Refused(
                                "The run 'parent', which called it, has got the outcome of 'child'. Let that run begin anew, or fork one of them."));
        apply(worker, advance(parent, 1, FAIL));
        assertThat(rerunOf(child, 1)).isInstanceOf(Outcome.Applied.class);
        assertThat(unread(parent)).isEmpty();
        start(worker, List.of(task("a"), task("b", 0)));
        assertThat(rerunOf(refOf("a"), 1))
                .isEqualTo(new Outcome.Refused(
                        "The run 'a' is a task of a DAG. Let the DAG run it again: rerun(…) of the DAG."));
    }
}
