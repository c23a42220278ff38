package dev.perdure.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.attribute.AttributeValue;
import dev.perdure.attribute.Description;
import dev.perdure.queue.Placement;
import dev.perdure.queue.Requirement;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Runs.Basis;
import dev.perdure.spi.Runs.Ended;
import dev.perdure.spi.change.Admission;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Change.CommandKind;
import dev.perdure.spi.change.Effect;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Origin;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.Premise;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.Task;
import dev.perdure.spi.change.WorkerId;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Questions about runs. */
public abstract class RunsConformance extends StoreConformance {
    /** In the order of their names, with characters that have to be escaped somewhere. */
    private static final Description ATTRIBUTES = Description.NONE
            .with("customer \"7\"", new AttributeValue.Text("O'Neil \\ {Söhne}, \"GmbH\""))
            .with("größe", new AttributeValue.Text("\ud83d\ude80"))
            .with("region", new AttributeValue.Text("NULL"))
            .with("total", new AttributeValue.Decimal(new BigDecimal("-12345678901234567890.50")))
            .with("due", new AttributeValue.Time(Instant.parse("2026-01-31T12:00:00.000001Z")))
            .with("urgent", new AttributeValue.Flag(true))
            .with("tags", new AttributeValue.Keywords(List.of("b", "a \"b\"", "ü")))
            .withMemo("line\none")
            .withHeaders(Map.of("tenant", "O'Neil = Söhne \\ \ud83d\ude80", "trace.id_1-2", "", "z", "NULL"));

    /** For subclasses. */
    protected RunsConformance() {}

    private List<String> listed(RunFilter filter) {
        return store().runs().list(filter).stream()
                .map(info -> info.id().value())
                .toList();
    }

    @Test
    void a_run_is_found_by_its_id() {
        RunRef run = startReady("a");
        advance(Duration.ofSeconds(1));
        command(run, CommandKind.PAUSE, "hold on");

        assertThat(store().runs().find(run.id())).hasValueSatisfying(found -> {
            assertThat(found.ref()).isEqualTo(run);
            assertThat(found.info())
                    .isEqualTo(new RunInfo(
                            run.id(),
                            DEFINITION,
                            RunState.PAUSED,
                            Optional.of("hold on"),
                            BEGINNING,
                            now(),
                            Optional.empty(),
                            0,
                            List.of(),
                            Description.NONE));
        });
        assertThat(store().runs().find(RunId.of("A"))).isEmpty();
    }

    private Description descriptionOf(String id) {
        return store().runs().find(RunId.of(id)).orElseThrow().info().description();
    }

    @Test
    void attributes_are_kept_however_a_run_is_started() {
        WorkerId worker = join();
        startReady("plain");
        startReady(newRun("ready").describedAs(ATTRIBUTES));
        startReady(withDelay(newRun("delayed"), Duration.ofHours(1)).describedAs(ATTRIBUTES));
        RunRef parent = startOwned(worker, newRun("owned").describedAs(ATTRIBUTES));
        NewRun child = newRun("child").describedAs(ATTRIBUTES);
        apply(worker, advance(parent, 1, new Move.Stay(), List.of(new Effect.Start(child))));
        Task task = new Task(newRun("dag/task"), List.of());
        NewRun dag = newRun("dag").describedAs(ATTRIBUTES);
        apply(worker, new Change.Start(dag, worker, List.of(), List.of(task)));
        ObjectCall call = new ObjectCall(new ObjectKey("cart", "1"), ObjectCall.Hold.EXCLUSIVE);
        startOwned(worker, newRun("call").on(call).describedAs(ATTRIBUTES));
        startReady(newRun("waiting call").describedAs(ATTRIBUTES).on(call));
        store().ledger()
                .apply(
                        new Lane(worker, 0),
                        List.of(
                                new Change.Start(newRun("together").describedAs(ATTRIBUTES), worker),
                                new Change.Start(newRun("in one batch"), worker),
                                new Change.Start(newRun("queued").describedAs(ATTRIBUTES), null)));

        assertThat(descriptionOf("plain")).isEqualTo(Description.NONE);
        assertThat(descriptionOf("dag/task")).isEqualTo(Description.NONE);
        assertThat(descriptionOf("in one batch")).isEqualTo(Description.NONE);
        for (String id :
                List.of("ready", "delayed", "owned", "child", "dag", "call", "waiting call", "together", "queued")) {
            assertThat(descriptionOf(id)).as(id).isEqualTo(ATTRIBUTES);
        }
        assertThat(store().runs().list(RunFilter.all()))
                .filteredOn(info -> info.description().equals(ATTRIBUTES))
                .hasSize(9);
    }

    @Test
    void a_worker_gets_the_queue_the_headers_and_the_start_time_of_the_runs_that_it_takes() {
        WorkerId worker = join();
        Description described = Description.NONE.withHeaders(Map.of("tenant", "a=b", "trace", "7"));
        Origin origin = new Origin(QUEUE, described.headers(), BEGINNING);
        startReady(newRun("ready").describedAs(described));
        Claimed ready = claimOne(worker);
        assertThat(ready.origin()).isEqualTo(origin);
        apply(worker, advance(ready.run(), ready.epoch(), sleep(Duration.ofHours(1))));
        apply(Lane.client(0), new Change.Fork(ready.run().id(), 1, RunId.of("fork"), 4711, null));
        assertThat(claimOne(worker).origin()).isEqualTo(origin);
        advance(Duration.ofHours(1));
        assertThat(claimOne(worker)).isEqualTo(withEpoch(ready, 2));

        Instant later = BEGINNING.plus(Duration.ofHours(1));
        startReady("plain");
        assertThat(claimOne(worker).origin()).isEqualTo(new Origin(QUEUE, Map.of(), later));

        List<Task> tasks = List.of(
                new Task(newRun("dag/first").describedAs(described), List.of()),
                new Task(newRun("dag/second").describedAs(described), List.of(0)));
        NewRun dag = newRun("dag").describedAs(described);
        Outcome begun = apply(worker, new Change.Start(dag, worker, List.of(), tasks));
        Claimed first = ((Outcome.Started) begun).handed().getFirst();
        Origin ofTask = new Origin(QUEUE, described.headers(), later);
        assertThat(first.origin()).isEqualTo(ofTask);
        Move end = new Move.End(RunState.COMPLETED, payload("1"), "", 2);
        Outcome ended = apply(worker, advance(first.run(), first.epoch(), end));
        assertThat(((Outcome.Applied) ended).handed())
                .extracting(Claimed::origin)
                .contains(ofTask);
    }

    @Test
    void a_call_that_waits_for_its_object_has_its_headers_when_it_is_handed_over() {
        WorkerId worker = join();
        Description described = Description.NONE.withHeaders(Map.of("tenant", "acme"));
        ObjectCall call = new ObjectCall(new ObjectKey("cart", "1"), ObjectCall.Hold.EXCLUSIVE);
        RunRef holds = startOwned(worker, newRun("holds").on(call));
        startReady(newRun("waits").describedAs(described).on(call));
        Move end = new Move.End(RunState.COMPLETED, payload("1"), "", 1);
        Outcome ended = apply(worker, advance(holds, 1, end));
        assertThat(((Outcome.Applied) ended).handed())
                .extracting(Claimed::origin)
                .containsExactly(new Origin(QUEUE, described.headers(), BEGINNING));
    }

    private static Claimed withEpoch(Claimed claim, long epoch) {
        return new Claimed(
                claim.run(),
                epoch,
                claim.definition(),
                claim.input(),
                claim.seed(),
                claim.control(),
                claim.deadline(),
                claim.recoveries(),
                claim.premises(),
                claim.object(),
                claim.origin());
    }

    @Test
    void the_settings_of_a_run_are_read_as_they_were_chosen() {
        NewRun chosen = withVersion(withPriority(withQueue(newRun("chosen"), "imports"), 7), "v7")
                .withQueueKey("acme")
                .describedAs(Description.NONE.withMemo("why").withHeaders(Map.of("tenant", "acme")))
                .withAdmission(new Admission(null, 3).at(Placement.ANYWHERE.requiring(Requirement.of("gpu=true"))));
        startReady(chosen);
        NewRun plain = newRun("plain");
        startReady(plain);

        assertThat(store().runs().settings(RunId.of("chosen"))).hasValue(chosen.withInput(Payload.EMPTY));
        assertThat(store().runs().settings(RunId.of("plain"))).hasValue(plain.withInput(Payload.EMPTY));
        assertThat(store().runs().settings(RunId.of("nobody"))).isEmpty();
    }

    @Test
    void a_run_is_read_with_what_it_begins_with() {
        WorkerId worker = join(Set.of(DEFINITION), "v2");
        ObjectCall call = new ObjectCall(new ObjectKey("cart", "1"), ObjectCall.Hold.EXCLUSIVE);
        NewRun start = withTimeout(withVersion(newRun("call"), "v2"), Duration.ofHours(1));
        RunRef run = startOwned(worker, start.on(call));
        assertThat(basisOf(run))
                .isEqualTo(new Basis(
                        "v2", start.input(), start.seed(), BEGINNING.plus(Duration.ofHours(1)), List.of(), call));
        RunRef plain = startOwned(worker, newRun("plain"));
        apply(worker, advance(plain, 1, new Move.Restart(payload("2"), 77)));
        assertThat(basisOf(plain)).isEqualTo(new Basis(null, payload("2"), 77, null, List.of(), null));
        assertThat(store().runs().basis(new RunRef(RunId.of("nobody"), 4711))).isEmpty();
    }

    @Test
    void a_task_is_read_with_the_input_of_its_run_and_the_tasks_that_it_comes_after() {
        WorkerId worker = join();
        Payload input = payload("input of the run");
        List<Task> tasks = List.of(
                new Task(withInput(newRun("dag/b"), input), List.of()),
                new Task(withInput(newRun("dag/a"), input), List.of()),
                new Task(withInput(newRun("dag/c"), input), List.of(1, 0)));
        NewRun dag = withInput(newRun("dag"), input);
        apply(Lane.client(0), new Change.Start(dag, null, List.of(), tasks));
        Claimed first = claimOne(worker);
        apply(worker, advance(first.run(), first.epoch(), new Move.End(RunState.FAILED, payload("why"), "no luck")));

        Basis basis = basisOf(refOf("dag/c"));
        assertThat(basis.premises())
                .containsExactlyInAnyOrder(
                        new Premise(first.run(), RunState.FAILED, payload("why"), "no luck"),
                        new Premise(
                                refOf(first.run().id().value().equals("dag/a") ? "dag/b" : "dag/a"),
                                RunState.READY,
                                Payload.EMPTY,
                                ""));
        assertThat(basis.premises().stream().map(premise -> premise.run().id().value()))
                .containsExactly("dag/a", "dag/b");
        assertThat(basis.input()).isEqualTo(input);
    }

    private Basis basisOf(RunRef run) {
        return store().runs().basis(run).orElseThrow();
    }

    @Test
    void attributes_stay_through_another_life_and_another_start() {
        WorkerId worker = join();
        RunRef restarted = startOwned(worker, newRun("restarted").describedAs(ATTRIBUTES));
        apply(worker, advance(restarted, 1, new Move.Restart(payload("2"), 77)));
        NewRun dag = newRun("dag").describedAs(ATTRIBUTES);
        Outcome started = apply(worker, new Change.Start(dag, worker, List.of(), List.of()));
        apply(worker, advance(((Outcome.Started) started).run(), 1, complete("1")));
        apply(Lane.client(0), new Change.Rerun(dag.id(), List.of(), 78));
        apply(
                Lane.client(0),
                new Change.Start(
                        newRun("dag").describedAs(Description.NONE.with("other", new AttributeValue.Flag(false))),
                        null));

        assertThat(descriptionOf("restarted")).isEqualTo(ATTRIBUTES);
        assertThat(descriptionOf("dag")).isEqualTo(ATTRIBUTES);
    }

    @Test
    void runs_are_listed_newest_first_and_by_what_was_asked() {
        WorkerId worker = join();
        RunRef completed = startOwned(worker, "completed");
        apply(worker, advance(completed, 1, complete("1")));
        advance(Duration.ofSeconds(1));
        startReady(withDefinition(newRun("other"), "other"));
        advance(Duration.ofSeconds(1));
        startReady("ready");

        assertThat(listed(RunFilter.all())).containsExactly("ready", "other", "completed");
        assertThat(listed(RunFilter.all().state(RunState.COMPLETED))).containsExactly("completed");
        assertThat(listed(RunFilter.all().definition("other"))).containsExactly("other");
        assertThat(listed(RunFilter.all().created(BEGINNING, BEGINNING.plusSeconds(2))))
                .containsExactly("other", "completed");
        assertThat(listed(RunFilter.all().created(BEGINNING.plusSeconds(1), Instant.MAX)))
                .containsExactly("ready", "other");
        assertThat(listed(RunFilter.all().limit(1))).containsExactly("ready");
        assertThat(listed(RunFilter.all().state(RunState.FAILED))).isEmpty();
    }

    @Test
    void pages_follow_each_other_also_among_runs_of_the_same_moment() {
        for (int i = 0; i < 10; i++) {
            startReady("run-" + i);
        }
        List<String> all = new ArrayList<>();
        List<RunInfo> page = store().runs().list(RunFilter.all().limit(3));
        while (!page.isEmpty()) {
            page.forEach(info -> all.add(info.id().value()));
            page = store().runs().list(RunFilter.all().limit(3).after(page.getLast()));
        }

        assertThat(all)
                .containsExactly(
                        "run-9", "run-8", "run-7", "run-6", "run-5", "run-4", "run-3", "run-2", "run-1", "run-0");
    }

    @Test
    void ended_gives_those_that_have_ended_or_are_not_there() {
        WorkerId worker = join();
        RunRef running = startOwned(worker, "running");
        RunRef completed = startOwned(worker, "completed");
        apply(worker, advance(completed, 1, complete("1")));
        RunRef nobody = new RunRef(RunId.of("nobody"), 1L << 40);

        assertThat(store().runs().ended(List.of(running, completed, nobody)))
                .containsExactlyInAnyOrder(
                        new Ended(completed, RunState.COMPLETED, payload("1"), ""), Ended.removed(nobody));
        assertThat(store().runs().ended(List.of())).isEmpty();
    }

    @Test
    void the_mark_differs_after_every_change() {
        WorkerId worker = join();
        Set<String> marks = new HashSet<>();
        marks.add(store().runs().mark());
        RunRef run = startOwned(worker, "a");
        marks.add(store().runs().mark());
        apply(worker, advance(run, 1, complete("1")));
        marks.add(store().runs().mark());

        assertThat(marks).hasSize(3);
    }

    @Test
    void changes_are_told_oldest_first_with_their_times() {
        WorkerId worker = join();
        RunRef run = startReady("a");
        advance(Duration.ofSeconds(1));
        claimOne(worker);
        advance(Duration.ofSeconds(1));
        apply(worker, advance(run, 1, complete("1")));

        assertThat(store().runs().entered(run))
                .extracting(entered -> entered.at() + " " + entered.state())
                .containsExactly(
                        BEGINNING + " READY",
                        BEGINNING.plusSeconds(1) + " RUNNING",
                        BEGINNING.plusSeconds(2) + " COMPLETED");
        assertThat(store().runs().entered(new RunRef(RunId.of("nobody"), 1L << 40)))
                .isEmpty();
    }
}
