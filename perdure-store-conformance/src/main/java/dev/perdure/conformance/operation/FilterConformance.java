package dev.perdure.conformance.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunCount;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.attribute.Attribute;
import dev.perdure.attribute.Description;
import dev.perdure.conformance.dag.DagConformance;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Change.CommandKind;
import dev.perdure.spi.change.Effect;
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
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Finding runs by what they are. */
public abstract class FilterConformance extends DagConformance {
    private static final RunFilter ALL = RunFilter.all();
    private static final Attribute<String> CUSTOMER = Attribute.text("customer");
    private static final Attribute<Number> TOTAL = Attribute.number("total");
    private static final Attribute<Boolean> URGENT = Attribute.flag("urgent");
    private static final Attribute<Instant> DUE = Attribute.time("due");
    private static final Attribute<List<String>> TAGS = Attribute.keywords("tags");

    /** For subclasses. */
    protected FilterConformance() {}

    private List<String> listed(RunFilter filter) {
        return store().runs().list(filter).stream()
                .map(info -> info.id().value())
                .toList();
    }

    private void startOf(String id, String definition) {
        NewRun run = newRun(id);
        startReady(new NewRun(run.id(), definition, run.input(), run.seed(), run.queue(), 0, null, null));
    }

    private RunRef failed(WorkerId worker, String id, String reason) {
        RunRef run = startOwned(worker, id);
        apply(worker, advance(run, 1, new Move.End(RunState.FAILED, Payload.EMPTY, reason)));
        return run;
    }

    private void startOneOfEachState(WorkerId worker) {
        apply(worker, advance(startOwned(worker, "completed"), 1, complete("1")));
        failed(worker, "failed", "java.net.ConnectException: refused");
        startOwned(worker, "running");
        startReady("ready");
        command(startReady("paused"), CommandKind.PAUSE, "java.net is down");
        command(startReady("cancelled"), CommandKind.CANCEL, "not wanted");
        apply(worker, advance(startOwned(worker, "suspended"), 1, sleep(Duration.ofHours(1))));
    }

    @Test
    void runs_are_found_by_several_states() {
        startOneOfEachState(join());

        assertThat(listed(ALL.state(RunState.FAILED, RunState.PAUSED))).containsExactly("paused", "failed");
        assertThat(listed(ALL.state(RunState.FAILED, RunState.COMPLETED))).containsExactly("failed", "completed");
        assertThat(listed(ALL.state(RunState.SUSPENDED, RunState.READY, RunState.RUNNING)))
                .containsExactly("suspended", "running", "ready");
        for (RunState state : RunState.values()) {
            assertThat(store().runs().list(ALL.state(state))).allMatch(info -> info.state() == state);
        }
    }

    @Test
    void a_run_is_found_by_its_new_state_when_it_has_changed() {
        WorkerId worker = join();
        RunRef run = startReady("a");
        command(run, CommandKind.PAUSE, "wait");
        assertThat(listed(ALL.state(RunState.PAUSED))).containsExactly("a");
        command(run, CommandKind.RESUME, "");
        assertThat(listed(ALL.state(RunState.PAUSED))).isEmpty();
        assertThat(listed(ALL.reason("wait"))).isEmpty();
        assertThat(claimOne(worker).run()).isEqualTo(run);
        assertThat(listed(ALL.state(RunState.RUNNING))).containsExactly("a");
    }

    @Test
    void runs_are_found_by_the_beginning_of_their_reason() {
        startOneOfEachState(join());

        assertThat(listed(ALL.reason("java.net"))).containsExactly("paused", "failed");
        assertThat(listed(ALL.reason("java.net.").state(RunState.FAILED, RunState.CANCELLED)))
                .containsExactly("failed");
        assertThat(listed(ALL.reason("ConnectException"))).isEmpty();
        assertThat(listed(ALL.reason("n"))).containsExactly("cancelled");
    }

    @Test
    void a_prefix_of_reasons_and_ids_is_no_pattern_and_may_have_any_character() {
        WorkerId worker = join();
        failed(worker, "a%b", "100% of it");
        failed(worker, "axb", "100 of it");
        failed(worker, "ü\uD7FF", "\uD7FF");
        failed(worker, "ü\uE000", "\uE000");
        failed(worker, "\uDBFF\uDFFF1", "\uDBFF\uDFFF1");

        assertThat(listed(ALL.idPrefix("a%"))).containsExactly("a%b");
        assertThat(listed(ALL.reason("100%"))).containsExactly("a%b");
        assertThat(listed(ALL.idPrefix("ü"))).hasSize(2);
        assertThat(listed(ALL.idPrefix("ü\uD7FF"))).containsExactly("ü\uD7FF");
        assertThat(listed(ALL.reason("\uD7FF"))).containsExactly("ü\uD7FF");
        assertThat(listed(ALL.idPrefix("\uDBFF\uDFFF"))).containsExactly("\uDBFF\uDFFF1");
    }

    @Test
    void a_long_reason_is_found_by_its_beginning() {
        failed(join(), "long", "r".repeat(5_000));
        assertThat(listed(ALL.reason("r".repeat(200)))).containsExactly("long");
    }

    @Test
    void runs_are_found_by_queue_key_version_and_definition_together() {
        startReady(withQueue(newRun("slow"), "slow").withQueueKey("c-1"));
        startReady(newRun("keyed").withQueueKey("c-1"));
        startReady(withVersion(newRun("pinned"), "v2"));
        startReady(withDefinition(newRun("other"), "other"));

        assertThat(listed(ALL.queue("slow"))).containsExactly("slow");
        assertThat(listed(ALL.queue(QUEUE))).containsExactly("pinned", "other", "keyed");
        assertThat(listed(ALL.key("c-1"))).containsExactly("slow", "keyed");
        assertThat(listed(ALL.key("c-1").queue(QUEUE))).containsExactly("keyed");
        assertThat(listed(ALL.version("v2"))).containsExactly("pinned");
        assertThat(listed(ALL.version("v2").definition("other"))).isEmpty();
        assertThat(listed(ALL.definition("other").queue(QUEUE).state(RunState.READY)))
                .containsExactly("other");
        assertThat(listed(ALL.definition("none"))).isEmpty();
    }

    @Test
    void runs_are_found_by_parent_root_and_schedule() {
        WorkerId worker = join();
        RunRef root = startOwned(worker, "root");
        NewRun reporting = newRun("fired").withParent(Parent.reporting(root));
        apply(
                worker,
                advance(
                        root,
                        1,
                        STAY,
                        List.of(
                                new Effect.Start(child("child", root, 1, true)),
                                new Effect.Start(reporting),
                                new Effect.Start(newRun("spawned")))));
        RunRef child = claimed(worker, "child");
        apply(worker, advance(child, 1, STAY, List.of(new Effect.Start(child("grandchild", child, 1, true)))));
        Task task = new Task(newRun("dag/task"), List.of());
        apply(worker, new Change.Start(newRun("dag"), null, List.of(), List.of(task)));

        assertThat(listed(ALL.parent(RunId.of("root")))).containsExactly("child");
        assertThat(listed(ALL.parent(RunId.of("dag")))).containsExactly("dag/task");
        assertThat(listed(ALL.parent(RunId.of("nobody")))).isEmpty();
        assertThat(listed(ALL.root(RunId.of("root")))).containsExactly("root", "grandchild", "child");
        assertThat(listed(ALL.root(RunId.of("child")))).containsExactly("grandchild", "child");
        assertThat(listed(ALL.root(RunId.of("dag")))).containsExactly("dag/task", "dag");
        assertThat(listed(ALL.root(RunId.of("nobody")))).isEmpty();
        assertThat(listed(ALL.schedule("nightly"))).isEmpty();
    }

    private RunRef claimed(WorkerId worker, String id) {
        return polled(worker, 10).claimed().stream()
                .map(claimed -> claimed.run())
                .filter(run -> run.id().value().equals(id))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void runs_of_a_schedule_are_those_that_report_to_it() {
        WorkerId worker = join();
        RunRef schedule = startOwned(worker, "schedule:nightly");
        apply(
                worker,
                advance(
                        schedule,
                        1,
                        STAY,
                        List.of(
                                new Effect.Start(newRun("nightly@1").withParent(Parent.reporting(schedule))),
                                new Effect.Start(child("child", schedule, 1, true)))));

        assertThat(listed(ALL.schedule("nightly"))).containsExactly("nightly@1");
    }

    @Test
    void runs_of_the_engine_are_left_out_if_asked() {
        startOf("ours", "perdure.bulk");
        startOf("yours", "perdure");
        startOf("others", "Perdure.bulk");

        assertThat(listed(ALL)).hasSize(3);
        assertThat(listed(ALL.withoutEngineRuns())).containsExactlyInAnyOrder("yours", "others");
        assertThat(store().runs().count(ALL.withoutEngineRuns())).isEqualTo(Map.of(RunState.READY, RunCount.seen(2)));
        assertThat(listed(ALL.withoutEngineRuns().definition("perdure.bulk"))).isEmpty();
    }

    @Test
    void runs_are_found_by_the_time_of_their_end() {
        WorkerId worker = join();
        RunRef early = startOwned(worker, "early");
        RunRef late = startOwned(worker, "late");
        startOwned(worker, "runs on");
        advance(Duration.ofMinutes(1));
        apply(worker, advance(early, 1, complete("1")));
        advance(Duration.ofMinutes(1));
        apply(worker, advance(late, 1, complete("1")));

        Instant minute = BEGINNING.plusSeconds(60);
        assertThat(listed(ALL.ended(BEGINNING, minute))).isEmpty();
        assertThat(listed(ALL.ended(BEGINNING, minute.plusMillis(1)))).containsExactly("early");
        assertThat(listed(ALL.ended(minute, minute.plusSeconds(60)))).containsExactly("early");
        assertThat(listed(ALL.ended(minute.plusMillis(1), Instant.MAX))).containsExactly("late");
        assertThat(listed(ALL.ended(Instant.MIN, Instant.MAX))).containsExactly("late", "early");
        assertThat(listed(ALL.ended(Instant.MAX, Instant.MAX))).isEmpty();
        assertThat(listed(ALL.created(Instant.MIN, Instant.MIN))).isEmpty();
        assertThat(listed(ALL.created(BEGINNING, BEGINNING.plusMillis(1)))).hasSize(3);
        assertThat(listed(ALL.created(Instant.MIN, BEGINNING))).isEmpty();
    }

    @Test
    void pages_go_in_both_directions_also_among_runs_of_one_moment() {
        List<String> started = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            startReady("run-" + i);
            started.add("run-" + i);
            if (i % 4 == 3) {
                advance(Duration.ofSeconds(1));
            }
        }
        assertThat(paged(ALL.oldestFirst().limit(3))).isEqualTo(started);
        assertThat(paged(ALL.limit(3))).isEqualTo(started.reversed());
        assertThat(paged(ALL.limit(3).queue(QUEUE).state(RunState.READY))).isEqualTo(started.reversed());
    }

    private List<String> paged(RunFilter filter) {
        List<String> all = new ArrayList<>();
        List<RunInfo> page = store().runs().list(filter);
        while (!page.isEmpty()) {
            page.forEach(info -> all.add(info.id().value()));
            page = store().runs().list(filter.after(page.getLast()));
        }
        return all;
    }

    @Test
    void runs_are_counted_by_state_whatever_the_page() {
        startOneOfEachState(join());
        startReady(withDefinition(newRun("other"), "other"));
        RunFilter second = ALL.limit(1).after(store().runs().list(ALL).getFirst());

        assertThat(store().runs().count(second))
                .containsExactlyInAnyOrderEntriesOf(Map.of(
                        RunState.COMPLETED, new RunCount(1, false),
                        RunState.FAILED, new RunCount(1, false),
                        RunState.RUNNING, new RunCount(1, false),
                        RunState.READY, new RunCount(2, false),
                        RunState.PAUSED, new RunCount(1, false),
                        RunState.CANCELLED, new RunCount(1, false),
                        RunState.SUSPENDED, new RunCount(1, false)));
        assertThat(store().runs().count(ALL.definition("other")))
                .containsExactly(Map.entry(RunState.READY, new RunCount(1, false)));
        assertThat(store().runs().count(ALL.state(RunState.FAILED, RunState.READY)))
                .containsOnlyKeys(RunState.FAILED, RunState.READY);
        assertThat(store().runs().count(ALL.definition("none"))).isEmpty();
    }

    // ---- attributes

    private static <T> Description described(Description before, Attribute<T> attribute, T value) {
        return before.with(attribute.name(), attribute.value(value));
    }

    private static <T> Effect set(Attribute<T> attribute, T value) {
        return new Effect.SetAttribute(attribute.name(), attribute.value(value));
    }

    private RunRef startDescribed(String id, String customer, int total, String... tags) {
        Description all = described(Description.NONE, CUSTOMER, customer);
        all = described(all, TOTAL, total);
        all = described(all, URGENT, total > 5);
        all = described(all, DUE, BEGINNING.plusSeconds(total));
        return startReady(newRun(id).describedAs(described(all, TAGS, List.of(tags))));
    }

    @Test
    void runs_are_found_by_attributes_of_every_type() {
        startReady("none");
        startDescribed("one", "c-1", 1, "a", "b");
        startDescribed("ten", "c-1", 10, "b");
        startDescribed("nine", "c-2", 9, "B");

        assertThat(listed(ALL.where(CUSTOMER.is("c-1")))).containsExactly("ten", "one");
        assertThat(listed(ALL.where(CUSTOMER.is("c-1")).oldestFirst())).containsExactly("one", "ten");
        assertThat(listed(ALL.where(TOTAL.is(9)))).containsExactly("nine");
        assertThat(listed(ALL.where(TOTAL.atLeast(9)))).containsExactly("ten", "nine");
        assertThat(listed(ALL.where(TOTAL.atLeast(1.5)).where(TOTAL.below(10)))).containsExactly("nine");
        assertThat(listed(ALL.where(URGENT.is(false)))).containsExactly("one");
        assertThat(listed(ALL.where(DUE.is(BEGINNING.plusSeconds(1))))).containsExactly("one");
        assertThat(listed(ALL.where(DUE.atLeast(BEGINNING.plusSeconds(9))))).containsExactly("ten", "nine");
        assertThat(listed(ALL.where(DUE.below(BEGINNING.plusSeconds(9))))).containsExactly("one");
        assertThat(listed(ALL.where(TAGS.contains("b")))).containsExactly("ten", "one");
        assertThat(listed(ALL.where(TAGS.contains("b")).where(TAGS.contains("a"))))
                .containsExactly("one");
        assertThat(listed(ALL.where(Attribute.text("total").is("9")))).isEmpty();
        assertThat(listed(ALL.where(Attribute.text("supplier").is("c-1")))).isEmpty();
        assertThat(listed(ALL.where(Attribute.number("weight").atLeast(0)))).isEmpty();
        assertThat(listed(ALL.where(CUSTOMER.is("c-1")).where(TOTAL.below(5)).state(RunState.READY)))
                .containsExactly("one");
        assertThat(store().runs().count(ALL.where(CUSTOMER.is("c-1"))))
                .containsExactly(Map.entry(RunState.READY, new RunCount(2, false)));
    }

    @Test
    void runs_with_an_attribute_are_listed_page_by_page() {
        List<String> started = new ArrayList<>();
        for (int i = 0; i < 7; i++) {
            startDescribed("run-" + i, "c-1", i, "t");
            started.add("run-" + i);
            if (i % 3 == 2) {
                advance(Duration.ofSeconds(1));
            }
        }
        assertThat(paged(ALL.where(CUSTOMER.is("c-1")).limit(2))).isEqualTo(started.reversed());
        assertThat(paged(ALL.where(TOTAL.atLeast(0)).limit(2).oldestFirst())).isEqualTo(started);
    }

    @Test
    void runs_are_found_however_they_were_started() {
        WorkerId worker = join();
        Description description = described(Description.NONE, CUSTOMER, "c-1");
        startReady(newRun("ready").describedAs(description));
        startReady(withDelay(newRun("delayed"), Duration.ofHours(1)).describedAs(description));
        RunRef owned = startOwned(worker, newRun("owned").describedAs(description));
        apply(
                worker,
                advance(
                        owned,
                        1,
                        STAY,
                        List.of(new Effect.Start(newRun("spawned").describedAs(description)))));
        NewRun fired = newRun("fired").withParent(Parent.reporting(owned)).describedAs(description);
        apply(worker, advance(owned, 1, STAY, List.of(new Effect.Start(fired))));
        Task task = new Task(newRun("dag/task"), List.of());
        apply(worker, new Change.Start(newRun("dag").describedAs(description), worker, List.of(), List.of(task)));
        ObjectCall call = new ObjectCall(new ObjectKey("cart", "1"), ObjectCall.Hold.EXCLUSIVE);
        startOwned(worker, newRun("call").on(call).describedAs(description));
        apply(Lane.client(0), new Change.Fork(owned.id(), 1, RunId.of("fork"), 5, null));
        // A start that finds its run changes nothing.
        apply(
                Lane.client(0),
                new Change.Start(newRun("ready").describedAs(described(Description.NONE, CUSTOMER, "c-2")), null));

        assertThat(listed(ALL.where(CUSTOMER.is("c-1"))))
                .containsExactlyInAnyOrder("ready", "delayed", "owned", "spawned", "fired", "dag", "call", "fork");
        assertThat(listed(ALL.where(CUSTOMER.is("c-2")))).isEmpty();
    }

    @Test
    void a_transition_sets_and_removes_attributes_and_the_status_of_its_run() {
        WorkerId worker = join();
        Description first = described(described(Description.NONE, CUSTOMER, "c-1"), TOTAL, 1);
        RunRef run = startOwned(worker, newRun("a").describedAs(first.withMemo("as ordered")));
        List<Effect> effects = List.of(
                set(TOTAL, 2),
                set(TOTAL, 3),
                set(TAGS, List.of("x", "y")),
                new Effect.SetAttribute("customer", null),
                new Effect.SetAttribute("unknown", null),
                new Effect.SetStatus("Packs"),
                new Effect.SetStatus("Ships"));
        Change change = advance(run, 1, STAY, effects, step(1, "1"));
        apply(worker, change);
        apply(worker, change);

        Description after = described(described(Description.NONE, TOTAL, 3), TAGS, List.of("x", "y"))
                .withMemo("as ordered")
                .withStatus("Ships");
        assertThat(found(run).info().description()).isEqualTo(after);
        assertThat(listed(ALL.where(TOTAL.is(3)))).containsExactly("a");
        assertThat(listed(ALL.where(TOTAL.below(3)))).isEmpty();
        assertThat(listed(ALL.where(CUSTOMER.is("c-1")))).isEmpty();
        assertThat(listed(ALL.where(TAGS.contains("y")))).containsExactly("a");

        apply(worker, advance(run, 1, new Move.Restart(payload("2"), 77), List.of(set(TAGS, List.of("y", "z")))));
        assertThat(listed(ALL.where(TAGS.contains("x")))).isEmpty();
        assertThat(listed(ALL.where(TAGS.contains("z")))).containsExactly("a");
        assertThat(found(run).info().description()).isEqualTo(described(after, TAGS, List.of("y", "z")));
        long epoch = claimOne(worker).epoch();
        apply(worker, advance(run, epoch, complete("1"), List.of(set(URGENT, true), new Effect.SetStatus("Done"))));
        assertThat(listed(ALL.where(URGENT.is(true)).state(RunState.COMPLETED))).containsExactly("a");
        assertThat(found(run).info().description().status()).contains("Done");
    }

    @Test
    void a_worker_that_has_lost_its_run_sets_nothing() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, new Move.Yield()));
        WorkerId other = join();
        assertThat(claimOne(other).run()).isEqualTo(run);
        apply(worker, advance(run, 1, complete("1"), List.of(set(TOTAL, 1), new Effect.SetStatus("Late"))));

        assertThat(found(run).info().description()).isEqualTo(Description.NONE);
        assertThat(listed(ALL.where(TOTAL.is(1)))).isEmpty();
    }
}
