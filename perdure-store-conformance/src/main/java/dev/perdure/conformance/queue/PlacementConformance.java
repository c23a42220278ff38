package dev.perdure.conformance.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunChange;
import dev.perdure.RunState;
import dev.perdure.StartKey;
import dev.perdure.queue.Placement;
import dev.perdure.queue.Requirement;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Dispatch.Poll;
import dev.perdure.spi.Dispatch.Polled;
import dev.perdure.spi.Dispatch.Version;
import dev.perdure.spi.Leases.Joining;
import dev.perdure.spi.Outcome;
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
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Runs that require or prefer labels of workers: every way in which they begin or continue. */
public abstract class PlacementConformance extends QueueConformance {
    private static final Duration MOMENT = Duration.ofMillis(1);

    private final Map<WorkerId, Map<String, String>> labels = new HashMap<>();

    /** For subclasses. */
    protected PlacementConformance() {}

    /** A worker with labels such as gpu=true. */
    private WorkerId joinWith(String... given) {
        WorkerId worker = new WorkerId(UUID.randomUUID());
        Map<String, String> all =
                new HashMap<>(Map.of(Requirement.WORKER, worker.value().toString()));
        for (String label : given) {
            Requirement parts = Requirement.of(label);
            all.put(parts.label(), parts.value());
        }
        labels.put(worker, all);
        Set<String> queues = Set.of(QUEUE, LIMITED);
        store().leases().join(new Joining(worker, Set.of(DEFINITION), null, LONG_LEASE, 4, Set.of(), queues, all));
        return worker;
    }

    private Poll pollOf(WorkerId worker) {
        return pollOf(worker, null);
    }

    private Poll pollOf(WorkerId worker, @Nullable String version) {
        return new Poll(
                worker,
                Set.of(DEFINITION),
                Set.of(QUEUE, LIMITED),
                Version.of(version),
                10,
                true,
                labels.getOrDefault(worker, Map.of()));
    }

    private List<String> claim(WorkerId worker) {
        return claimedIds(pollOf(worker));
    }

    private Claimed one(WorkerId worker) {
        List<Claimed> claimed = store().dispatch().poll(pollOf(worker)).claimed();
        assertThat(claimed).hasSize(1);
        return claimed.getFirst();
    }

    private static Placement requires(String... requirements) {
        return Placement.ANYWHERE.requiring(parsed(requirements));
    }

    private static Placement prefers(String... requirements) {
        return Placement.ANYWHERE.preferring(parsed(requirements));
    }

    private static Requirement[] parsed(String... requirements) {
        return Arrays.stream(requirements).map(Requirement::of).toArray(Requirement[]::new);
    }

    private static Requirement on(WorkerId worker) {
        return Requirement.worker(worker.value().toString());
    }

    private static NewRun gpu(String id) {
        return newRun(id).at(requires("gpu=true"));
    }

    /** Checks that a run is ready, and that no worker without the label takes it. */
    private Claimed onlyOn(WorkerId gpu, WorkerId plain, RunRef run) {
        assertThat(claim(plain)).isEmpty();
        assertThat(stateOf(run)).isEqualTo(RunState.READY);
        Claimed claimed = one(gpu);
        assertThat(claimed.run()).isEqualTo(run);
        return claimed;
    }

    // ---- what is required

    @Test
    void a_worker_takes_only_runs_whose_requirements_its_labels_meet() {
        startReady(newRun("anywhere"));
        startReady(newRun("small").at(requires("memory>=16")));
        startReady(newRun("cheap").at(requires("price<=1.5")));
        startReady(newRun("both").at(requires("memory>=16", "region=eu")));
        startReady(newRun("elsewhere").at(requires("region=us")));
        startReady(newRun("text").at(requires("region>=1")));

        assertThat(claim(joinWith())).containsExactly("anywhere");
        assertThat(claim(joinWith("memory=8", "region=eu"))).isEmpty();
        assertThat(claim(joinWith("memory=16"))).containsExactly("small");
        assertThat(claim(joinWith("memory=32.5", "region=eu", "price=1.50")))
                .containsExactlyInAnyOrder("cheap", "both");
        assertThat(claim(joinWith("region=us"))).containsExactly("elsewhere");
    }

    @Test
    void a_worker_takes_runs_in_their_order_whether_they_require_something_or_not() {
        for (int i = 0; i < 6; i++) {
            startReady(i % 2 == 0 ? gpu("run-" + i) : newRun("run-" + i));
            advance(MOMENT);
        }
        startReady(withPriority(newRun("urgent"), 5).at(requires("gpu=true")));
        WorkerId gpu = joinWith("gpu=true");
        // A store may take runs after the others as long as it does not know what they require.
        store().dispatch().poll(pollOf(gpu).forAtMost(0, false));

        assertThat(claim(gpu)).containsExactly("urgent", "run-0", "run-1", "run-2", "run-3", "run-4", "run-5");
    }

    @Test
    void version_and_labels_are_required_together() {
        startReady(withVersion(newRun("pinned"), "v2").at(requires("gpu=true")));
        WorkerId gpu = joinWith("gpu=true");

        assertThat(claimedIds(pollOf(gpu))).isEmpty();
        assertThat(claimedIds(pollOf(gpu, "v1"))).isEmpty();
        assertThat(claimedIds(pollOf(joinWith(), "v2"))).isEmpty();
        assertThat(claimedIds(pollOf(gpu, "v2"))).containsExactly("pinned");
    }

    @Test
    void runs_of_queues_with_limits_and_with_keys_require_labels_too() {
        declare(queue().concurrency(2));
        startReady(run("plain").at(requires("gpu=true")));
        startReady(run("keyed", "acme").at(requires("gpu=true")));
        startReady(newRun("keyed-without-limits").withQueueKey("acme").at(requires("gpu=true")));
        startReady(run("third").at(requires("gpu=true")));

        assertThat(claim(joinWith())).isEmpty();
        WorkerId gpu = joinWith("gpu=true");
        List<String> claimed = claim(gpu);
        claimed = claimed.size() < 3 ? concat(claimed, claim(gpu)) : claimed;
        assertThat(claimed).hasSize(3).contains("keyed-without-limits");
        assertThat(claim(gpu)).isEmpty();
    }

    private static List<String> concat(List<String> some, List<String> more) {
        return Stream.concat(some.stream(), more.stream()).toList();
    }

    // ---- every way in which a run begins or continues

    @Test
    void a_run_requires_its_labels_again_when_it_is_woken_given_back_begun_anew_or_resumed() {
        WorkerId plain = joinWith();
        WorkerId gpu = joinWith("gpu=true");
        RunRef run = startReady(gpu("run"));
        Claimed claimed = onlyOn(gpu, plain, run);

        apply(gpu, advance(run, claimed.epoch(), sleep(Duration.ofHours(1))));
        advance(Duration.ofHours(2));
        claimed = onlyOn(gpu, plain, run);
        apply(gpu, advance(run, claimed.epoch(), await(1, Channel.message("topic"))));
        deliver(run, mail(Channel.message("topic"), "1"));
        claimed = onlyOn(gpu, plain, run);
        apply(gpu, advance(run, claimed.epoch(), new Move.Yield()));
        claimed = onlyOn(gpu, plain, run);
        apply(gpu, advance(run, claimed.epoch(), new Move.Restart(payload("\"again\""), 77)));
        claimed = onlyOn(gpu, plain, run);
        apply(gpu, advance(run, claimed.epoch(), new Move.Pause("wait", 0)));
        command(run, Change.CommandKind.RESUME, "");
        claimed = onlyOn(gpu, plain, run);
        apply(gpu, advance(run, claimed.epoch(), sleep(Duration.ofHours(1))));
        command(run, Change.CommandKind.CANCEL, "no longer needed");
        onlyOn(gpu, plain, run);
    }

    @Test
    void a_run_requires_its_labels_again_when_it_is_swept() {
        WorkerId plain = joinWith();
        WorkerId dying = joinWith("gpu=true");
        RunRef run = startOwned(dying, gpu("run"));
        store().leases().leave(dying);
        store().leases().sweep(10);

        onlyOn(joinWith("gpu=true"), plain, run);
    }

    @Test
    void a_delayed_start_and_a_child_require_their_labels() {
        WorkerId plain = joinWith();
        WorkerId gpu = joinWith("gpu=true");
        RunRef delayed =
                startReady(withDelay(newRun("delayed"), Duration.ofHours(1)).at(requires("gpu=true")));
        advance(Duration.ofHours(2));
        onlyOn(gpu, plain, delayed);

        RunRef parent = startOwned(plain, "parent");
        NewRun child = child("child", parent, 1, true).at(requires("gpu=true"));
        apply(plain, advance(parent, 1, STAY, List.of(new Effect.Start(child))));
        onlyOn(gpu, plain, refOf("child"));
    }

    @Test
    void a_run_that_replaces_another_requires_its_labels() {
        WorkerId plain = joinWith();
        WorkerId gpu = joinWith("gpu=true");
        StartKey key = StartKey.deduplicate("one").replace();
        NewRun first = newRun("first");
        RunRef before = startOwned(plain, first.withAdmission(first.admission().withKey(key, false)));
        NewRun second = newRun("second");
        RunRef after = startReady(
                second.withAdmission(second.admission().withKey(key, false).at(requires("gpu=true"))));
        apply(plain, advance(before, 1, complete("1")));
        store().dispatch().poll(pollOf(plain));

        onlyOn(gpu, plain, after);
    }

    @Test
    void tasks_are_not_handed_over_if_they_require_labels() {
        WorkerId plain = joinWith();
        WorkerId gpu = joinWith("gpu=true");
        List<Task> tasks = List.of(new Task(newRun("dag/a"), List.of()), new Task(gpu("dag/b"), List.of(0)));
        Outcome.Started started =
                (Outcome.Started) apply(plain, new Change.Start(newRun("dag"), plain, List.of(), tasks));
        RunRef first = started.handed().getFirst().run();
        Move.End takingOver = new Move.End(RunState.COMPLETED, payload("1"), "", 5);
        Outcome.Applied ended = (Outcome.Applied) apply(plain, advance(first, 1, takingOver));

        assertThat(ended.handed()).isEmpty();
        onlyOn(gpu, plain, refOf("dag/b"));
    }

    @Test
    void another_life_of_a_task_requires_its_labels() {
        WorkerId plain = joinWith();
        WorkerId gpu = joinWith("gpu=true");
        List<Task> tasks = List.of(new Task(gpu("dag/a"), List.of()));
        apply(plain, new Change.Start(newRun("dag"), null, List.of(), tasks));
        end(gpu, onlyOn(gpu, plain, refOf("dag/a")));
        end(plain, one(plain));
        apply(
                Lane.client(0),
                new Change.Rerun(refOf("dag").id(), List.of(refOf("dag/a").id()), 99));

        onlyOn(gpu, plain, refOf("dag/a"));
    }

    @Test
    void a_call_of_a_virtual_object_is_neither_handed_over_nor_completed_at_once_if_it_requires_labels() {
        WorkerId plain = joinWith();
        WorkerId gpu = joinWith("gpu=true");
        ObjectCall call = new ObjectCall(new ObjectKey("cart", "7"), ObjectCall.Hold.EXCLUSIVE);
        RunRef first = startOwned(plain, newRun("first").on(call));
        RunRef second = startReady(gpu("second").on(call));
        Move.End takingOver = new Move.End(RunState.COMPLETED, payload("1"), "", 5);
        Change.CompletedCall ahead = new Change.CompletedCall(
                gpu("third").on(call),
                List.of(),
                List.of(),
                new Move.End(RunState.COMPLETED, payload("1"), ""),
                first.id());
        List<Outcome> outcomes =
                store().ledger().apply(new Lane(plain, 0), List.of(advance(first, 1, takingOver), ahead));

        assertThat(((Outcome.Applied) outcomes.getFirst()).handed()).isEmpty();
        assertThat(outcomes.getLast()).isInstanceOf(Outcome.Fenced.class);
        onlyOn(gpu, plain, second);
    }

    @Test
    void a_waiting_call_that_requires_labels_is_not_taken_ahead_of_its_turn() {
        WorkerId plain = joinWith();
        ObjectCall call = new ObjectCall(new ObjectKey("cart", "7"), ObjectCall.Hold.EXCLUSIVE);
        RunRef first = startOwned(plain, newRun("first").on(call));
        RunRef second = startReady(newRun("second").on(call));
        startReady(gpu("third").on(call));
        Move.End takingOver = new Move.End(RunState.COMPLETED, payload("1"), "", 5);
        Outcome.Applied ended = (Outcome.Applied) apply(plain, advance(first, 1, takingOver));

        assertThat(ended.handed()).extracting(Claimed::run).containsExactly(second);
        assertThat(ended.next()).isEmpty();
    }

    // ---- what is preferred

    @Test
    void a_worker_that_is_preferred_takes_the_run_at_once_and_any_other_after_five_seconds() {
        startReady(newRun("run").at(prefers("region=eu")));
        WorkerId preferred = joinWith("region=eu");
        WorkerId other = joinWith("region=us");
        Polled waits = store().dispatch().poll(pollOf(other));
        assertThat(waits.claimed()).isEmpty();
        assertThat(waits.nextDue()).isEqualTo(now().plus(Placement.PREFERENCE));
        advance(Placement.PREFERENCE.minusMillis(1));
        assertThat(claim(other)).isEmpty();
        assertThat(reasonOf("run"))
                .isEqualTo("It waits up to 5 seconds for a worker with the label 'region=eu', which it prefers.");
        advance(MOMENT);
        assertThat(reasonOf("run")).isEmpty();
        assertThat(claim(other)).containsExactly("run");

        startReady(newRun("second").at(prefers("region=eu")));
        assertThat(claim(other)).isEmpty();
        assertThat(claim(preferred)).containsExactly("second");
    }

    @Test
    void a_run_that_prefers_what_no_live_worker_has_is_taken_at_once() {
        WorkerId other = joinWith();
        RunRef run = startReady(newRun("run").at(prefers("region=eu")));
        assertThat(reasonOf("run")).isEmpty();
        Claimed claimed = one(other);

        WorkerId preferred = joinWith("region=eu");
        apply(other, advance(run, claimed.epoch(), new Move.Yield()));
        assertThat(claim(other)).isEmpty();
        store().leases().leave(preferred);
        store().leases().sweep(10);
        assertThat(claim(other)).containsExactly("run");
    }

    @Test
    void a_run_prefers_the_same_labels_again_when_it_continues() {
        WorkerId other = joinWith();
        WorkerId preferred = joinWith("region=eu");
        RunRef run = startReady(newRun("run").at(prefers("region=eu")));
        claim(other);
        advance(Placement.PREFERENCE);
        Claimed claimed = one(other);
        apply(other, advance(run, claimed.epoch(), sleep(Duration.ofHours(1))));
        advance(Duration.ofHours(2));

        assertThat(claim(other)).isEmpty();
        assertThat(claim(preferred)).containsExactly("run");
    }

    @Test
    void what_is_required_stays_required_when_what_is_preferred_was_not_there() {
        startReady(withVersion(newRun("run"), "v2").at(requires("gpu=true").preferring(Requirement.of("region=eu"))));
        WorkerId plain = joinWith();
        WorkerId gpu = joinWith("gpu=true");
        joinWith("gpu=true", "region=eu");
        assertThat(claimedIds(pollOf(gpu, "v2"))).isEmpty();
        advance(Placement.PREFERENCE);

        assertThat(claimedIds(pollOf(plain, "v2"))).isEmpty();
        assertThat(claimedIds(pollOf(gpu, "v1"))).isEmpty();
        assertThat(claimedIds(pollOf(gpu, "v2"))).containsExactly("run");
    }

    @Test
    void runs_with_keys_and_in_limited_queues_prefer_labels_too() {
        declare(queue().concurrency(1));
        startReady(run("limited").at(prefers("region=eu")));
        startReady(newRun("keyed").withQueueKey("acme").at(prefers("region=eu")));
        WorkerId other = joinWith();
        joinWith("region=eu");
        assertThat(claim(other)).isEmpty();
        advance(Placement.PREFERENCE);

        List<String> claimed = claim(other);
        claimed = claimed.size() < 2 ? concat(claimed, claim(other)) : claimed;
        assertThat(claimed).containsExactlyInAnyOrder("limited", "keyed");
    }

    // ---- the worker of the parent

    @Test
    void a_sticky_run_is_taken_by_its_worker_alone() {
        WorkerId home = joinWith();
        WorkerId other = joinWith();
        startReady(newRun("hard").at(Placement.ANYWHERE.requiring(on(home))));
        startReady(newRun("soft").at(Placement.ANYWHERE.preferring(on(home))));

        assertThat(claim(other)).isEmpty();
        assertThat(claim(home)).containsExactlyInAnyOrder("hard", "soft");
    }

    @Test
    void a_run_that_prefers_a_worker_that_is_gone_goes_elsewhere_at_once() {
        WorkerId home = joinWith();
        WorkerId other = joinWith();
        RunRef run = startReady(newRun("soft").at(Placement.ANYWHERE.preferring(on(home))));
        store().leases().leave(home);
        store().leases().sweep(10);
        Claimed claimed = one(other);

        apply(other, advance(run, claimed.epoch(), sleep(Duration.ofHours(1))));
        advance(Duration.ofHours(2));
        assertThat(claim(other)).containsExactly("soft");
    }

    @Test
    void a_run_that_requires_a_worker_that_is_gone_is_cancelled() {
        WorkerId home = joinWith();
        WorkerId other = joinWith();
        RunRef run = startReady(newRun("hard").at(Placement.ANYWHERE.requiring(on(home))));
        store().leases().leave(home);
        store().leases().sweep(10);
        Polled polled = store().dispatch().poll(pollOf(other));

        String reason = Placement.gone(home.value().toString());
        assertThat(polled.claimed()).isEmpty();
        assertThat(polled.changed()).extracting(RunChange::state).containsExactly(RunState.CANCELLED);
        assertThat(found(run).info().state()).isEqualTo(RunState.CANCELLED);
        assertThat(found(run).info().reason()).contains(reason);
        assertThat(store().dispatch().poll(pollOf(other)).changed()).isEmpty();
    }

    @Test
    void a_run_that_has_begun_on_a_worker_that_is_gone_gets_its_cancel_elsewhere() {
        WorkerId home = joinWith("gpu=true");
        WorkerId plain = joinWith();
        WorkerId gpu = joinWith("gpu=true");
        Placement placement = requires("gpu=true").requiring(on(home));
        RunRef run = startOwned(home, newRun("hard").at(placement));
        store().leases().leave(home);
        store().leases().sweep(10);

        assertThat(claim(plain)).isEmpty();
        Claimed claimed = one(gpu);
        assertThat(claimed.run()).isEqualTo(run);
        assertThat(claimed.control().cancel())
                .isEqualTo(Placement.gone(home.value().toString()));
    }

    // ---- why a run waits

    @Test
    void a_run_says_which_labels_no_live_worker_has() {
        joinWith("memory=8");
        startReady(gpu("one"));
        startReady(newRun("two").at(requires("region=eu", "memory>=16")));
        declare(queue().concurrency(1));
        startReady(run("three").at(requires("gpu=true")));

        assertThat(reasonOf("one")).isEqualTo("No live worker of the queue 'default' has the label 'gpu=true'.");
        assertThat(reasonOf("two"))
                .isEqualTo("No live worker of the queue 'default' has the labels 'memory>=16', 'region=eu'.");
        assertThat(reasonOf("three")).isEqualTo("No live worker of the queue 'limited' has the label 'gpu=true'.");
        joinWith("gpu=true", "memory=16", "region=eu");
        assertThat(reasonOf("one")).isEmpty();
        assertThat(reasonOf("two")).isEmpty();
        assertThat(reasonOf("three")).isEmpty();
    }
}
