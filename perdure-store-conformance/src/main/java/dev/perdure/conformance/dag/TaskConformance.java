package dev.perdure.conformance.dag;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Leases.Joining;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Change.CommandKind;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.Parent;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.Task;
import dev.perdure.spi.change.WorkerId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Runs that are born together and come after each other. */
public abstract class TaskConformance extends DagConformance {
    /** For subclasses. */
    protected TaskConformance() {}

    // ---- birth

    @Test
    void tasks_are_born_with_their_run_and_wait_for_those_they_come_after() {
        Outcome.Started started = start(null, diamond());

        assertThat(started.owned()).isFalse();
        assertThat(started.handed()).isEmpty();
        assertThat(statesOf("dag", "a", "b", "c", "d"))
                .containsExactly(
                        RunState.PENDING, RunState.READY, RunState.PENDING, RunState.PENDING, RunState.PENDING);
        assertThat(store().runs().liveChildren(List.of(started.run())))
                .containsExactlyInAnyOrder(refOf("a"), refOf("b"), refOf("c"), refOf("d"));
        assertThat(ids(polled(join(), 10).claimed())).containsExactly("a");
    }

    @Test
    void the_worker_that_starts_gets_what_begins_at_once() {
        WorkerId worker = join();
        Outcome.Started started = start(worker, List.of(task("a"), task("b"), task("c", 0, 1)));

        assertThat(started.owned()).isFalse();
        assertThat(ids(started.handed())).containsExactly("a", "b");
        assertThat(started.handed()).allSatisfy(run -> {
            assertThat(run.epoch()).isEqualTo(Outcome.Started.FIRST_EPOCH);
            assertThat(run.input()).isEqualTo(payload("\"input of " + run.run().id() + "\""));
            assertThat(run.premises()).isEmpty();
        });
        assertThat(statesOf("dag", "a", "b", "c"))
                .containsExactly(RunState.PENDING, RunState.RUNNING, RunState.RUNNING, RunState.PENDING);
        assertThat(store().leases().owned(worker)).hasSize(2);
    }

    @Test
    void a_start_that_was_sent_twice_starts_once_and_hands_over_the_same() {
        WorkerId worker = join();
        Change.Start start = new Change.Start(newRun("dag"), worker, List.of(), diamond());
        Outcome first = apply(worker, start);

        assertThat(apply(worker, start)).isEqualTo(first);
        complete(worker, ((Outcome.Started) first).handed().getFirst(), 0);
        assertThat(((Outcome.Started) apply(worker, start)).handed()).isEmpty();
    }

    @Test
    void nothing_is_started_under_an_id_that_is_taken() {
        RunRef there = startReady("dag");
        Outcome outcome = apply(Lane.client(0), new Change.Start(newRun("dag"), null, List.of(), List.of(task("a"))));

        assertThat(outcome).isInstanceOf(Outcome.Existing.class);
        assertThat(((Outcome.Existing) outcome).run()).isEqualTo(there);
        assertThat(store().runs().find(RunId.of("a"))).isEmpty();
    }

    @Test
    void a_task_whose_id_is_taken_refuses_the_whole_start_and_no_other() {
        startReady("c");
        List<Outcome> outcomes = store().ledger()
                .apply(
                        Lane.client(0),
                        List.of(
                                new Change.Start(newRun("other"), null),
                                new Change.Start(newRun("dag"), null, List.of(), diamond()),
                                new Change.Start(newRun("sound"), null, List.of(), List.of(task("x"), task("y", 0)))));

        assertThat(outcomes.get(0)).isInstanceOf(Outcome.Started.class);
        assertThat(outcomes.get(1))
                .isEqualTo(new Outcome.Refused(
                        "The id 'c' of one of its tasks is taken by another run. Start it under another id."));
        assertThat(outcomes.get(2)).isInstanceOf(Outcome.Started.class);
        for (String id : List.of("dag", "a", "b", "d")) {
            assertThat(store().runs().find(RunId.of(id))).isEmpty();
        }
    }

    @Test
    void a_task_that_was_started_with_the_input_of_its_run_has_it_until_it_begins_anew_with_another() {
        WorkerId worker = join();
        NewRun dag = newRun("dag");
        List<Task> tasks = List.of(
                new Task(withInput(newRun("a"), dag.input()), List.of()),
                new Task(withInput(newRun("b"), dag.input()), List.of(0)),
                new Task(withInput(newRun("c"), dag.input()), List.of(0)),
                task("d", 0));
        Claimed a = start(worker, dag, tasks).handed().getFirst();
        assertThat(a.input()).isEqualTo(dag.input());
        Claimed b = complete(worker, a, 1).getFirst();
        assertThat(b.input()).isEqualTo(dag.input());
        assertThat(polled(worker, 10).claimed())
                .extracting(Claimed::input)
                .containsExactlyInAnyOrder(dag.input(), newRun("d").input());

        NewRun rival = withInput(newRun("b"), dag.input());
        assertThat(apply(Lane.client(0), new Change.Start(rival, null)))
                .isEqualTo(new Outcome.Existing(b.run(), DEFINITION, true));
        apply(worker, advance(b.run(), b.epoch(), new Move.Restart(payload("\"other\""), 7)));
        assertThat(claimOne(worker).input()).isEqualTo(payload("\"other\""));
    }

    // ---- what ends lets others begin

    @Test
    void a_task_begins_when_the_last_of_those_before_it_has_ended() {
        WorkerId worker = join();
        Claimed a = start(worker, diamond()).handed().getFirst();
        complete(worker, a, 0);
        assertThat(statesOf("b", "c", "d")).containsExactly(RunState.READY, RunState.READY, RunState.PENDING);
        List<Claimed> middle = polled(worker, 10).claimed();

        complete(worker, middle.get(0), 0);
        assertThat(statesOf("d", "dag")).containsExactly(RunState.PENDING, RunState.PENDING);
        apply(worker, advance(middle.get(1).run(), 1, new Move.End(RunState.FAILED, payload("{}"), "it broke")));
        Claimed d = claimOne(worker);
        assertThat(told(d.premises())).containsExactly("b COMPLETED b", "c FAILED {} it broke");
        assertThat(statesOf("dag")).containsExactly(RunState.PENDING);

        complete(worker, d, 0);
        Claimed dag = claimOne(worker);
        assertThat(dag.run()).isEqualTo(refOf("dag"));
        assertThat(told(dag.premises())).containsExactly("d COMPLETED d");
        complete(worker, dag, 0);
        assertThat(changesOf(dag.run())).containsExactly("PENDING", "READY", "RUNNING", "COMPLETED");
    }

    @Test
    void whichever_way_a_run_ends_what_comes_after_it_begins() {
        WorkerId worker = join();
        List<RunState> ends = List.of(RunState.COMPLETED, RunState.FAILED, RunState.CANCELLED, RunState.SKIPPED);
        List<Task> roots = ends.stream().map(state -> task(state.name())).toList();
        List<Claimed> held = start(
                        worker,
                        Stream.concat(roots.stream(), Stream.of(task("join", 0, 1, 2, 3)))
                                .toList())
                .handed();
        for (int i = 0; i < ends.size(); i++) {
            assertThat(stateOf(refOf("join"))).isEqualTo(RunState.PENDING);
            apply(worker, advance(held.get(i).run(), 1, new Move.End(ends.get(i), payload(""), "so")));
        }
        assertThat(told(claimOne(worker).premises()))
                .containsExactly(
                        "COMPLETED COMPLETED  so",
                        "FAILED FAILED  so",
                        "CANCELLED CANCELLED  so",
                        "SKIPPED SKIPPED  so");
    }

    @Test
    void two_that_end_in_one_batch_open_what_comes_after_both_once() {
        WorkerId worker = join();
        List<Claimed> held =
                start(worker, List.of(task("a"), task("b"), task("c", 0, 1))).handed();
        List<Outcome> outcomes = store().ledger()
                .apply(
                        new Lane(worker, 0),
                        held.stream().<Change>map(run -> completion(run, 5)).toList());

        List<Claimed> handed = outcomes.stream()
                .flatMap(outcome -> ((Outcome.Applied) outcome).handed().stream())
                .toList();
        assertThat(ids(handed)).containsExactly("c");
        assertThat(told(handed.getFirst().premises())).containsExactly("a COMPLETED a", "b COMPLETED b");
        assertThat(changesOf(refOf("c"))).containsExactly("PENDING", "RUNNING");
    }

    @Test
    void an_end_that_was_sent_twice_counts_once() {
        WorkerId worker = join();
        List<Claimed> held =
                start(worker, List.of(task("a"), task("b"), task("c", 0, 1))).handed();
        Change.Advance end = completion(held.getFirst(), 5);

        assertThat(apply(worker, end)).isInstanceOf(Outcome.Applied.class);
        assertThat(apply(worker, end)).isInstanceOf(Outcome.AlreadyThere.class);
        assertThat(stateOf(refOf("c"))).isEqualTo(RunState.PENDING);
        assertThat(ids(complete(worker, held.get(1), 5))).containsExactly("c");
    }

    @Test
    void a_fenced_end_opens_nothing() {
        WorkerId worker = join();
        Claimed a = start(worker, List.of(task("a"), task("b", 0))).handed().getFirst();
        apply(worker, advance(a.run(), 1, new Move.Yield()));
        assertThat(apply(worker, completion(a, 1))).isEqualTo(new Outcome.Fenced());
        claimOne(worker);
        store().leases().leave(worker);

        assertThat(apply(worker, completion(a, 1))).isEqualTo(new Outcome.Fenced());
        assertThat(stateOf(refOf("b"))).isEqualTo(RunState.PENDING);
    }

    @Test
    void a_killed_run_lets_others_begin_when_its_worker_gives_it_up_or_dies() {
        WorkerId worker = new WorkerId(UUID.randomUUID());
        store().leases().join(new Joining(worker, Set.of(DEFINITION), null, Duration.ofMillis(1), 4));
        List<Claimed> held = start(worker, List.of(task("a"), task("b"), task("after a", 0), task("after b", 1)))
                .handed();
        held.forEach(run -> command(run.run(), CommandKind.KILL, "enough"));
        apply(worker, advance(held.get(0).run(), 1, new Move.Recover("cannot go on")));
        assertThat(statesOf("a", "after a")).containsExactly(RunState.CANCELLED, RunState.READY);

        while (stateOf(refOf("b")) == RunState.RUNNING) {
            store().leases().sweep(10);
        }
        assertThat(statesOf("b", "after b")).containsExactly(RunState.CANCELLED, RunState.READY);
    }

    @Test
    void the_timeout_of_a_task_counts_from_when_it_may_begin() {
        WorkerId worker = join();
        Duration minute = Duration.ofMinutes(1);
        List<Task> tasks = List.of(
                new Task(withTimeout(newRun("a"), minute), List.of()),
                new Task(withTimeout(newRun("b"), minute), List.of(0)),
                new Task(withTimeout(newRun("c"), minute), List.of(0)));
        Claimed a = start(worker, tasks).handed().getFirst();
        assertThat(a.deadline()).isEqualTo(BEGINNING.plus(minute));

        advance(Duration.ofHours(1));
        Claimed b = complete(worker, a, 1).getFirst();
        assertThat(b.deadline()).isEqualTo(now().plus(minute));
        assertThat(claimOne(worker).deadline()).isEqualTo(now().plus(minute));
    }

    @Test
    void a_task_has_the_deadline_of_its_run_unless_its_own_is_earlier() {
        WorkerId worker = join();
        Duration hour = Duration.ofHours(1);
        List<Task> tasks = List.of(
                task("a"),
                new Task(withTimeout(newRun("early"), Duration.ofMinutes(1)), List.of(0)),
                new Task(withTimeout(newRun("late"), hour), List.of(0)),
                task("none", 0));
        Claimed a =
                start(worker, withTimeout(newRun("dag"), hour), tasks).handed().getFirst();
        assertThat(a.deadline()).isEqualTo(BEGINNING.plus(hour));

        advance(Duration.ofMinutes(30));
        List<Claimed> others = complete(worker, a, 3);
        assertThat(others)
                .extracting(Claimed::deadline)
                .containsExactly(now().plus(Duration.ofMinutes(1)), BEGINNING.plus(hour), BEGINNING.plus(hour));
    }

    @Test
    void the_delay_of_a_run_holds_back_the_tasks_that_would_begin_at_once() {
        WorkerId worker = join();
        Duration hour = Duration.ofHours(1);
        List<Task> tasks = List.of(task("a"), new Task(withTimeout(newRun("b"), hour), List.of()), task("c", 0, 1));
        NewRun later = withDelay(newRun("dag"), hour);
        assertThat(start(null, later, tasks).handed()).isEmpty();
        assertThat(statesOf("dag", "a", "b", "c"))
                .containsExactly(RunState.PENDING, RunState.SUSPENDED, RunState.SUSPENDED, RunState.PENDING);
        assertThat(polled(worker, 10).claimed()).isEmpty();
        assertThat(polled(worker, 10).nextDue()).isEqualTo(BEGINNING.plus(hour));

        advance(hour);
        List<Claimed> begun = polled(worker, 10).claimed();
        assertThat(ids(begun)).containsExactlyInAnyOrder("a", "b");
        assertThat(begun)
                .filteredOn(run -> run.run().id().value().equals("b"))
                .extracting(Claimed::deadline)
                .containsExactly(BEGINNING.plus(hour).plus(hour));
        complete(worker, begun.get(0), 0);
        assertThat(ids(complete(worker, begun.get(1), 1))).containsExactly("c");
    }

    @Test
    void a_cancel_ends_tasks_that_are_held_back() {
        Outcome.Started dag =
                start(null, withDelay(newRun("dag"), Duration.ofHours(1)), List.of(task("a"), task("b", 0)));
        apply(Lane.client(0), new Change.Command(RunId.of("a"), CommandKind.CANCEL, "enough"));

        assertThat(statesOf("a", "b")).containsExactly(RunState.CANCELLED, RunState.READY);
        assertThat(polled(join(), 10).nextDue()).isNull();
        assertThat(stateOf(dag.run())).isEqualTo(RunState.PENDING);
    }

    // ---- started by another run

    @Test
    void a_transition_starts_a_run_with_tasks_and_its_end_is_told_to_the_parent() {
        WorkerId worker = join();
        RunRef parent = startOwned(worker, "parent");
        NewRun dag = newRun("dag").withParent(new Parent(parent, 1, true));
        Change start = advance(
                parent,
                1,
                new Move.Stay(),
                List.of(new Effect.Start(dag, List.of(task("a"), task("b", 0)))),
                step(1, "1"));
        assertThat(apply(worker, start)).isInstanceOf(Outcome.Applied.class);
        assertThat(apply(worker, start)).isInstanceOf(Outcome.AlreadyThere.class);
        assertThat(statesOf("dag", "a", "b")).containsExactly(RunState.PENDING, RunState.READY, RunState.PENDING);

        Claimed b = complete(worker, claimOne(worker), 1).getFirst();
        complete(worker, complete(worker, b, 1).getFirst(), 0);
        assertThat(stateOf(refOf("dag"))).isEqualTo(RunState.COMPLETED);
        assertThat(unread(parent)).hasSize(1);
    }

    @Test
    void a_transition_that_starts_a_task_under_a_taken_id_is_refused() {
        WorkerId worker = join();
        RunRef parent = startOwned(worker, "parent");
        NewRun dag = newRun("dag").withParent(new Parent(parent, 1, true));
        assertThat(apply(
                        worker,
                        advance(
                                parent,
                                1,
                                new Move.Stay(),
                                List.of(new Effect.Start(dag, List.of(task("parent")))),
                                step(1, "1"))))
                .isEqualTo(Outcome.Refused.taskIdTaken(RunId.of("parent")));
        assertThat(journalOf(parent)).isEmpty();
        assertThat(store().runs().find(dag.id())).isEmpty();
    }

    // ---- going on in the same worker

    @Test
    void the_worker_that_ends_a_run_goes_on_with_as_many_as_it_takes() {
        WorkerId worker = join();
        Claimed a = start(worker, List.of(task("a"), task("b", 0), task("c", 0), task("d", 0)))
                .handed()
                .getFirst();
        List<Claimed> handed = complete(worker, a, 2);

        assertThat(ids(handed)).containsExactly("b", "c");
        assertThat(handed).allSatisfy(run -> {
            assertThat(run.epoch()).isEqualTo(1);
            assertThat(told(run.premises())).containsExactly("a COMPLETED a");
        });
        assertThat(statesOf("b", "c", "d")).containsExactly(RunState.RUNNING, RunState.RUNNING, RunState.READY);
        assertThat(changesOf(refOf("b"))).containsExactly("PENDING", "RUNNING");
        assertThat(store().leases().owned(worker)).hasSize(2);
        complete(worker, handed.getFirst(), 0);
        assertThat(stateOf(refOf("b"))).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void it_gets_nothing_that_it_could_not_have_claimed() {
        WorkerId worker = join(Set.of(DEFINITION), "v1");
        List<Task> tasks = List.of(
                task("a"),
                new Task(withDefinition(newRun("unknown"), "other"), List.of(0)),
                new Task(withQueue(newRun("elsewhere"), "another"), List.of(0)),
                new Task(withVersion(newRun("newer"), "v2"), List.of(0)),
                new Task(withVersion(newRun("same"), "v1"), List.of(0)));
        Claimed a = start(worker, tasks).handed().getFirst();

        assertThat(ids(complete(worker, a, 10))).containsExactly("same");
        assertThat(statesOf("unknown", "elsewhere", "newer")).containsOnly(RunState.READY);
    }

    @Test
    void a_line_runs_to_its_end_in_one_hand() {
        WorkerId worker = join();
        int length = 1_000;
        List<Claimed> held = start(worker, line(length)).handed();
        for (int i = 0; i < length; i++) {
            assertThat(ids(held)).containsExactly("t" + i);
            held = complete(worker, held.getFirst(), 1);
        }
        assertThat(ids(held)).containsExactly("dag");
        assertThat(told(held.getFirst().premises())).containsExactly("t999 COMPLETED t999");
        complete(worker, held.getFirst(), 1);
        assertThat(stateOf(refOf("dag"))).isEqualTo(RunState.COMPLETED);
    }

    @Test
    void a_join_of_five_hundred_begins_once_with_all_outcomes_in_order() {
        WorkerId worker = join();
        int width = 500;
        List<Task> tasks = new ArrayList<>(List.of(task("root")));
        IntStream.range(0, width).forEach(i -> tasks.add(task("m" + i, 0)));
        tasks.add(
                new Task(newRun("join"), IntStream.rangeClosed(1, width).boxed().toList()));
        List<Claimed> middle = complete(worker, start(worker, tasks).handed().getFirst(), width);
        assertThat(middle).hasSize(width);

        List<Claimed> handed = new ArrayList<>();
        for (int from = 0; from < width; from += 125) {
            assertThat(handed).isEmpty();
            List<Change> ends = middle.subList(from, from + 125).stream()
                    .<Change>map(run -> completion(run, 3))
                    .toList();
            for (Outcome outcome : store().ledger().apply(new Lane(worker, 0), ends)) {
                handed.addAll(((Outcome.Applied) outcome).handed());
            }
        }
        assertThat(ids(handed)).containsExactly("join");
        assertThat(told(handed.getFirst().premises()))
                .isEqualTo(IntStream.range(0, width)
                        .mapToObj(i -> "m%s COMPLETED m%s".formatted(i, i))
                        .toList());
    }

    // ---- questions

    @Test
    void one_question_shows_every_task() {
        WorkerId worker = join();
        Outcome.Started started = start(
                worker,
                List.of(
                        task("z"),
                        task("y", 0),
                        task("x", 0),
                        new Task(withDefinition(newRun("w"), "other"), List.of(2, 1))));
        advance(Duration.ofSeconds(5));
        Claimed y = complete(worker, started.handed().getFirst(), 1).getFirst();
        apply(worker, advance(y.run(), 1, new Move.End(RunState.FAILED, payload("{}"), "it broke")));

        List<Runs.TaskRow> rows = store().runs().tasks(started.run());
        assertThat(rows).extracting(row -> row.run().id().value()).containsExactly("z", "y", "x", "w");
        assertThat(rows)
                .extracting(row -> row.info().state())
                .containsExactly(RunState.COMPLETED, RunState.FAILED, RunState.READY, RunState.PENDING);
        assertThat(rows)
                .extracting(Runs.TaskRow::after)
                .containsExactly(List.of(), List.of(0), List.of(0), List.of(2, 1));
        assertThat(rows)
                .extracting(Runs.TaskRow::outcome)
                .containsExactly(payload("z"), payload("{}"), payload(""), payload(""));
        assertThat(rows)
                .allSatisfy(
                        row -> assertThat(row.info()).isEqualTo(found(row.run()).info()));
        assertThat(rows.get(1).history())
                .containsExactly(
                        new Runs.Entered(RunState.PENDING, BEGINNING, ""),
                        new Runs.Entered(RunState.RUNNING, now(), ""),
                        new Runs.Entered(RunState.FAILED, now(), "it broke"));
        Runs.BelowPage first = store().runs().tasks(started.run(), Runs.BelowPlace.FIRST, 3);
        assertThat(first.runs())
                .isEqualTo(
                        rows.subList(0, 3).stream().map(row -> below(row, rows)).toList());
        assertThat(store().runs().tasks(started.run(), first.next().orElseThrow(), 3))
                .as("names tasks of the page before")
                .isEqualTo(new Runs.BelowPage(List.of(below(rows.get(3), rows)), Optional.empty()));
        assertThat(store().runs().tasks(y.run())).isEmpty();
    }

    private static Runs.Below below(Runs.TaskRow row, List<Runs.TaskRow> all) {
        return new Runs.Below(
                row.run(),
                row.info(),
                row.after().stream().map(index -> all.get(index).run().id()).toList(),
                row.history().stream()
                        .map(entered -> new Runs.Entered(entered.state(), entered.at(), ""))
                        .toList());
    }

    @Test
    void a_child_that_a_run_with_tasks_starts_is_no_task() {
        WorkerId worker = join();
        NewRun child = newRun("child");
        Claimed a = start(worker, List.of(task("a"))).handed().getFirst();
        complete(worker, a, 0);
        Claimed dag = claimOne(worker);
        apply(
                worker,
                advance(
                        dag.run(),
                        dag.epoch(),
                        STAY,
                        List.of(new Effect.Start(child.withParent(new Parent(dag.run(), 1, true)))),
                        step(1, "1")));

        assertThat(store().runs().tasks(dag.run()))
                .extracting(row -> row.run().id().value())
                .containsExactly("a");
        assertThat(store().runs().tasks(dag.run(), Runs.BelowPlace.FIRST, 10).runs())
                .extracting(row -> row.run().id().value())
                .containsExactly("a");
        assertThat(store().runs().children(dag.run(), Runs.BelowPlace.FIRST, 10).runs())
                .extracting(row -> row.run().id().value())
                .containsExactly("child");
    }
}
