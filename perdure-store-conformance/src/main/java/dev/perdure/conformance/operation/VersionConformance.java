package dev.perdure.conformance.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.audit.AuditEntry;
import dev.perdure.audit.AuditEntry.Action;
import dev.perdure.audit.AuditEntry.Subject;
import dev.perdure.audit.AuditFilter;
import dev.perdure.audit.Operator;
import dev.perdure.conformance.StoreConformance;
import dev.perdure.queue.Placement;
import dev.perdure.queue.Queue;
import dev.perdure.queue.Requirement;
import dev.perdure.spi.Audit;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Dispatch.Poll;
import dev.perdure.spi.Dispatch.Version;
import dev.perdure.spi.Leases.Joining;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.VersionRules;
import dev.perdure.spi.VersionRules.Order;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Change.CommandKind;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.status.Finding;
import dev.perdure.version.VersionInfo;
import dev.perdure.version.VersionInfo.Definition;
import dev.perdure.version.VersionInfo.State;
import dev.perdure.version.WorkerInfo;
import dev.perdure.version.WorkerInfo.Heap;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Workers pin runs to their versions, and versions drain. */
public abstract class VersionConformance extends StoreConformance {
    private static final Set<String> ORDER = Set.of(DEFINITION);
    private static final Version V1 = new Version("v1", ORDER, Set.of());
    private static final Version V2 = new Version("v2", ORDER, Set.of());
    private static final Version DRAINING = new Version("v1", ORDER, ORDER);

    /** For subclasses. */
    protected VersionConformance() {}

    private WorkerId join(String version) {
        return join(ORDER, version);
    }

    private List<String> claimed(WorkerId worker, Version version) {
        return claimedFrom(worker, version, QUEUE);
    }

    private List<String> claimedFrom(WorkerId worker, Version version, String queue) {
        return claimedIds(new Poll(worker, ORDER, Set.of(queue), null, 10, true).as(version));
    }

    private List<String> pinnedTo(String version) {
        return store().runs().list(RunFilter.all().version(version)).stream()
                .map(RunInfo::id)
                .map(RunId::value)
                .sorted()
                .toList();
    }

    private static Audit audit(Action action) {
        return new Audit(UUID.randomUUID(), Operator.named("anna"), action, Subject.VERSION, "v1", 0, "");
    }

    private void drain(String definition) {
        advance(Duration.ofSeconds(1));
        store().versions().apply(new Order("v1", definition, true), audit(Action.DRAIN));
    }

    private void resume(String definition) {
        advance(Duration.ofSeconds(1));
        store().versions().apply(new Order("v1", definition, false), audit(Action.RESUME));
    }

    private VersionInfo info(String version) {
        return store().versions().list().stream()
                .filter(info -> info.name().equals(version))
                .findFirst()
                .orElseThrow();
    }

    private List<String> findings(Finding.Kind kind) {
        return store().status().findings().stream()
                .filter(finding -> finding.kind() == kind)
                .map(Finding::what)
                .toList();
    }

    @Test
    void a_claim_pins_runs_of_definitions_that_ask_for_it() {
        startReady("a");
        startReady(withVersion(newRun("b"), "v1"));
        WorkerId worker = join("v1");

        assertThat(claimed(worker, V1)).containsExactlyInAnyOrder("a", "b");
        assertThat(pinnedTo("v1")).containsExactly("a", "b");
        apply(worker, advance(refOf("a"), 1, new Move.Yield()));
        assertThat(claimed(join("v2"), V2)).isEmpty();
        assertThat(claimed(worker, V1)).containsExactly("a");
    }

    @Test
    void a_claim_pins_nothing_if_the_definition_does_not_ask_for_it_or_the_worker_has_no_version() {
        startReady("a");
        WorkerId worker = join("v1");
        assertThat(claimed(worker, new Version("v1", Set.of("other"), Set.of())))
                .containsExactly("a");
        startReady("b");
        assertThat(claimed(join(), new Version(null, ORDER, Set.of()))).containsExactly("b");

        apply(worker, advance(refOf("a"), 1, new Move.Yield()));
        assertThat(claimed(join("v2"), V2)).containsExactly("a");
        assertThat(pinnedTo("v1")).isEmpty();
        assertThat(pinnedTo("v2")).containsExactly("a");
    }

    @Test
    void a_claim_from_a_queue_with_limits_pins_and_drains_too() {
        store().queues().declare(List.of(Queue.named("limited").concurrency(5)));
        startReady(newRun("a").in("limited", null));
        startReady(newRun("b").in("limited", "v1"));
        startReady(newRun("c").in("limited", null).withQueueKey("k"));
        WorkerId worker = join("v1");

        assertThat(claimedFrom(worker, DRAINING, "limited")).containsExactly("b");
        assertThat(claimedFrom(worker, V1, "limited")).containsExactlyInAnyOrder("a", "c");
        assertThat(pinnedTo("v1")).containsExactly("a", "b", "c");
    }

    @Test
    void a_worker_that_drains_takes_only_runs_that_are_pinned_to_its_version() {
        startReady("a");
        startReady(withVersion(newRun("b"), "v1"));
        startReady(newRun("c").at(Placement.ANYWHERE.requiring(Requirement.of("gpu=true"))));
        startReady(withVersion(newRun("d"), "v1").at(Placement.ANYWHERE.requiring(Requirement.of("gpu=true"))));
        WorkerId worker = join("v1");
        Poll poll = new Poll(worker, ORDER, Set.of(QUEUE), DRAINING, 10, true, Map.of("gpu", "true", "worker", "w"));

        assertThat(claimedIds(poll)).containsExactlyInAnyOrder("b", "d");
        assertThat(claimedIds(poll.as(new Version("v1", ORDER, Set.of("other")))))
                .containsExactlyInAnyOrder("a", "c");
    }

    @Test
    void a_run_that_waits_to_be_alone_is_not_announced_to_a_worker_that_drains_it() {
        WorkerId plain = join();
        RunRef run = startReady("a");
        for (int i = 0; i < Claimed.ALONE_AFTER; i++) {
            long epoch = claimOne(plain).epoch();
            apply(plain, advance(run, epoch, new Move.Recover("broken")));
        }
        Poll busy = new Poll(join("v1"), ORDER, Set.of(QUEUE), "v1", 10, false);

        assertThat(store().dispatch().poll(busy).aloneWaits()).isTrue();
        assertThat(store().dispatch().poll(busy.as(DRAINING)).aloneWaits()).isFalse();
    }

    @Test
    void a_run_that_begins_anew_stays_with_its_version_or_leaves_it() {
        WorkerId worker = join("v1");
        WorkerId next = join("v2");
        RunRef stays = startOwned(worker, withVersion(newRun("stays"), "v1"));
        RunRef leaves = startOwned(worker, withVersion(newRun("leaves"), "v1"));
        Change.Advance leaving = advance(leaves, 1, new Move.Restart(payload("2"), 77, true));

        apply(worker, advance(stays, 1, new Move.Restart(payload("2"), 76)));
        apply(worker, leaving);
        assertThat(apply(worker, leaving)).isInstanceOf(Outcome.AlreadyThere.class);

        assertThat(claimed(next, V2)).containsExactly("leaves");
        assertThat(pinnedTo("v2")).containsExactly("leaves");
        assertThat(claimed(worker, V1)).containsExactly("stays");
        assertThat(pinnedTo("v1")).containsExactly("stays");
    }

    @Test
    void live_workers_are_listed_with_what_they_have_and_hold() {
        WorkerId plain = join(Set.of(DEFINITION, "other", "perdure.schedule"), null);
        WorkerId versioned = new WorkerId(UUID.randomUUID());
        store().leases()
                .join(new Joining(
                        versioned,
                        ORDER,
                        "v1",
                        Duration.ofHours(1),
                        2,
                        Set.of(),
                        Set.of("slow", QUEUE),
                        Map.of("gpu", "true")));
        WorkerId gone = join("v1");
        store().leases().leave(gone);
        startOwned(plain, "a");
        startOwned(plain, "b");
        store().versions().obeys(plain, Set.of("other", "unknown"));
        store().versions().obeys(versioned, Set.of(VersionRules.ALL));
        store().leases().renew(plain, new Heap(48_000_000, 256_000_000));

        List<WorkerInfo> workers = store().versions().workers();
        assertThat(workers)
                .extracting(worker -> worker.id().toString())
                .isSorted()
                .containsExactlyInAnyOrder(
                        plain.value().toString(), versioned.value().toString());
        WorkerInfo first = worker(workers, plain);
        assertThat(first.version()).isEmpty();
        assertThat(first.definitions()).containsExactly(DEFINITION, "other");
        assertThat(first.queues()).isEmpty();
        assertThat(first.labels())
                .containsExactly(Map.entry("worker", plain.value().toString()));
        assertThat(first.held()).isEqualTo(2);
        assertThat(first.heap()).contains(new Heap(48_000_000, 256_000_000));
        assertThat(first.drains()).containsExactly("other");
        assertThat(first.isDraining()).isFalse();
        WorkerInfo second = worker(workers, versioned);
        assertThat(second.version()).contains("v1");
        assertThat(second.queues()).isSorted().containsExactlyInAnyOrder(QUEUE, "slow");
        assertThat(second.labels()).containsExactly(Map.entry("gpu", "true"));
        assertThat(second.held()).isZero();
        assertThat(second.heap()).isEmpty();
        assertThat(second.drains()).containsExactly(DEFINITION);
        assertThat(second.isDraining()).isTrue();
        assertThat(second.leaseUntil()).isAfter(first.leaseUntil());
    }

    private static WorkerInfo worker(List<WorkerInfo> workers, WorkerId id) {
        return workers.stream()
                .filter(worker -> worker.id().equals(id.value()))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void a_swept_run_stays_pinned() {
        startReady("a");
        WorkerId dying = join("v1");
        assertThat(claimed(dying, V1)).containsExactly("a");
        store().leases().leave(dying);
        store().leases().sweep(10);

        assertThat(claimed(join("v2"), V2)).isEmpty();
        assertThat(claimed(join("v1"), DRAINING)).containsExactly("a");
    }

    @Test
    void what_a_version_is_told_stays_until_it_is_resumed() {
        VersionRules versions = store().versions();
        assertThat(versions.drains("v1")).isEmpty();
        drain(DEFINITION);
        drain(VersionRules.ALL);
        drain(VersionRules.ALL);
        assertThat(versions.drains("v1")).containsExactlyInAnyOrder(DEFINITION, VersionRules.ALL);
        assertThat(versions.drains("v2")).isEmpty();

        resume(DEFINITION);
        assertThat(versions.drains("v1")).containsExactly(VersionRules.ALL);
        drain("other");
        resume(VersionRules.ALL);
        resume(VersionRules.ALL);
        assertThat(versions.drains("v1")).isEmpty();
        assertThat(store().runs().audited(AuditFilter.all()).reversed())
                .extracting(AuditEntry::text)
                .containsExactly(
                        "DRAIN version 'v1' by anna",
                        "DRAIN version 'v1' by anna",
                        "RESUME version 'v1' by anna",
                        "DRAIN version 'v1' by anna",
                        "RESUME version 'v1' by anna");
    }

    @Test
    void versions_are_those_of_live_workers_and_of_live_runs() {
        join(Set.of(DEFINITION, "other", "perdure.bulk"), "v1");
        join("v1");
        join();
        startReady(withVersion(newRun("a"), "v1"));
        startReady(withVersion(newRun("b"), "v2"));
        startReady("unpinned");
        drain("other");

        assertThat(store().versions().list())
                .containsExactly(
                        new VersionInfo(
                                "v1",
                                State.ACTIVE,
                                2,
                                1,
                                List.of(
                                        new Definition(DEFINITION, 1, 2, false, false),
                                        new Definition("other", 0, 1, true, false))),
                        new VersionInfo(
                                "v2", State.NO_WORKER, 0, 1, List.of(new Definition(DEFINITION, 1, 0, false, false))));
        assertThat(info("v2").lacksWorkers()).isTrue();
        assertThat(info("v1").lacksWorkers()).isFalse();
    }

    @Test
    void a_version_is_drained_when_all_its_workers_obey_and_no_live_run_is_pinned_to_it() {
        WorkerId one = join("v1");
        WorkerId two = join("v1");
        RunRef run = startOwned(one, withVersion(newRun("a"), "v1"));
        drain(VersionRules.ALL);
        assertThat(info("v1").state()).isEqualTo(State.DRAINING);

        store().versions().obeys(one, Set.of(VersionRules.ALL));
        apply(one, advance(run, 1, complete("1")));
        assertThat(info("v1").state()).isEqualTo(State.DRAINING);
        assertThat(store().versions().isDrained("v1")).isFalse();
        store().versions().obeys(two, Set.of(DEFINITION));
        assertThat(store().versions().isDrained("v1")).isFalse();
        store().versions().obeys(two, Set.of(DEFINITION, VersionRules.ALL));

        assertThat(store().versions().isDrained("v1")).isTrue();
        assertThat(info("v1").state()).isEqualTo(State.DRAINED);
        resume(VersionRules.ALL);
        assertThat(store().versions().isDrained("v1")).isFalse();
        assertThat(info("v1").state()).isEqualTo(State.ACTIVE);
    }

    @Test
    void a_definition_is_drained_when_all_workers_obey_and_no_live_run_of_it_is_pinned() {
        WorkerId one = join("v1");
        WorkerId two = join("v1");
        RunRef run = startOwned(one, withVersion(newRun("a"), "v1"));
        drain(DEFINITION);
        store().versions().obeys(one, Set.of(DEFINITION));
        store().versions().obeys(two, Set.of("other"));
        apply(one, advance(run, 1, complete("1")));
        assertThat(info("v1").definitions()).containsExactly(new Definition(DEFINITION, 0, 2, true, false));

        store().versions().obeys(two, Set.of(DEFINITION));
        assertThat(info("v1").definitions()).containsExactly(new Definition(DEFINITION, 0, 2, true, true));
        assertThat(info("v1").state()).isEqualTo(State.ACTIVE);
        drain(VersionRules.ALL);
        store().versions().obeys(one, Set.of(VersionRules.ALL));
        assertThat(info("v1").definitions()).containsExactly(new Definition(DEFINITION, 0, 2, true, true));
    }

    @Test
    void a_worker_that_is_gone_does_not_hold_up_the_end_of_a_drain() {
        WorkerId gone = join("v1");
        drain(VersionRules.ALL);
        assertThat(store().versions().isDrained("v1")).isFalse();

        store().leases().leave(gone);
        store().leases().sweep(10);
        store().versions().obeys(gone, Set.of(VersionRules.ALL));
        assertThat(store().versions().isDrained("v1")).isTrue();
        assertThat(store().versions().list()).isEmpty();
    }

    @Test
    void a_worker_whose_lease_is_over_holds_up_the_end_of_a_drain_until_a_sweep() {
        WorkerId slow = new WorkerId(UUID.randomUUID());
        store().leases().join(new Joining(slow, ORDER, "v1", Duration.ofMillis(1), 4));
        drain(VersionRules.ALL);
        while (store().status().workers() > 0) {
            Thread.onSpinWait(); // Leases go by real time.
        }
        assertThat(store().versions().isDrained("v1"))
                .as("a batch of the worker may still be on its way")
                .isFalse();

        store().leases().sweep(10);
        assertThat(store().versions().isDrained("v1")).isTrue();
    }

    @Test
    void a_paused_run_holds_up_a_drain_until_it_is_moved_or_ends() {
        WorkerId worker = join("v1");
        RunRef moved = startOwned(worker, withVersion(newRun("moved"), "v1"));
        RunRef ended = startOwned(worker, withVersion(newRun("ended"), "v1"));
        for (RunRef run : List.of(moved, ended)) {
            apply(worker, advance(run, 1, new Move.Pause("look at it", 0)));
        }
        drain(VersionRules.ALL);
        store().versions().obeys(worker, Set.of(VersionRules.ALL));
        assertThat(info("v1").runs()).isEqualTo(2);

        Audit audit = new Audit(UUID.randomUUID(), Operator.named("anna"), Action.MOVE, Subject.RUN, "moved", 0, "");
        apply(Lane.client(0), new Change.Reassign(moved.id(), null, "v2", audit, seen("moved")));
        assertThat(info("v1").runs()).isEqualTo(1);
        assertThat(info("v2").state()).isEqualTo(State.NO_WORKER);
        apply(Lane.client(0), new Change.Command(ended.id(), CommandKind.KILL, "enough"));
        assertThat(stateOf(ended)).isEqualTo(RunState.CANCELLED);
        assertThat(store().versions().isDrained("v1")).isTrue();
    }

    @Test
    void a_ready_run_says_that_every_worker_for_it_drains() {
        RunRef run = startReady("a");
        WorkerId worker = join("v1");
        drain(DEFINITION);
        assertThat(found(run).info().reason()).isEmpty();
        store().versions().obeys(worker, Set.of(DEFINITION));

        String reason = "Every live worker that has the definition 'order' drains.";
        assertThat(found(run).info().reason()).contains(reason);
        assertThat(findings(Finding.Kind.ALL_DRAIN)).isEmpty();
        advance(Finding.PATIENCE);
        assertThat(findings(Finding.Kind.ALL_DRAIN))
                .containsExactly(reason + " Ready runs wait: 1, the oldest, 'a', since " + BEGINNING + ".");
        assertThat(findings(Finding.Kind.NOT_REGISTERED)).isEmpty();
        join();
        assertThat(found(run).info().reason()).isEmpty();
        assertThat(findings(Finding.Kind.ALL_DRAIN)).isEmpty();
    }

    @Test
    void the_status_names_versions_that_have_runs_and_no_worker() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, withVersion(newRun("a"), "v1"));
        apply(worker, advance(run, 1, sleep(Duration.ofDays(1))));

        assertThat(findings(Finding.Kind.NO_VERSION))
                .containsExactly(
                        "No live worker has the definition 'order' in version 'v1', and 1 live runs are pinned to it.");
        join(Set.of("other"), "v1");
        assertThat(findings(Finding.Kind.NO_VERSION)).hasSize(1);
        join("v1");
        assertThat(findings(Finding.Kind.NO_VERSION)).isEmpty();
    }
}
