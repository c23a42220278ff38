package dev.perdure.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunChange;
import dev.perdure.RunState;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Dispatch.Poll;
import dev.perdure.spi.Leases.Joining;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Change.CommandKind;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.status.StoreHealth;
import dev.perdure.version.WorkerInfo.Heap;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Leases, the fence and the sweep. */
public abstract class LeasesConformance extends StoreConformance {
    private static final Heap HEAP = new Heap(48_000_000, 256_000_000);

    /** For subclasses. */
    protected LeasesConformance() {}

    private List<RunChange> sweep() {
        return store().leases().sweep(1_000);
    }

    /** Lets a new worker claim the run and die of it. */
    private void die(RunRef run) {
        WorkerId worker = join();
        assertThat(claimOne(worker).run()).isEqualTo(run);
        store().leases().leave(worker);
        sweep();
    }

    @Test
    void a_lease_is_renewed_until_it_has_ended() {
        WorkerId worker = new WorkerId(UUID.randomUUID());
        assertThat(store().leases().join(new Joining(worker, Set.of(DEFINITION), null, Duration.ofNanos(1_000), 1)))
                .isEqualTo(now());
        RunRef run = startOwned(worker, "a");
        List<RunChange> changes = new ArrayList<>();
        while (changes.isEmpty()) {
            changes.addAll(sweep());
        }

        assertThat(changes).extracting(RunChange::runId).containsExactly(run.id());
        assertThat(store().leases().renew(worker, HEAP)).isNull();
        assertThat(apply(worker, advance(run, 1, STAY, step(1, "1")))).isEqualTo(new Outcome.Fenced());
    }

    @Test
    void a_living_worker_keeps_its_runs() {
        WorkerId worker = join();
        startOwned(worker, "a");

        assertThat(store().leases().renew(worker, HEAP)).isEqualTo(now());
        assertThat(sweep()).isEmpty();
        assertThat(store().leases().owned(worker)).hasSize(1);
    }

    @Test
    void the_status_of_the_store_counts_the_workers_that_are_alive() {
        assertThat(store().status().workers()).isZero();
        WorkerId worker = join();
        join();
        assertThat(store().status().workers()).isEqualTo(2);
        assertThat(store().status().at()).isEqualTo(now());
        store().leases().leave(worker);
        assertThat(store().status().workers()).isEqualTo(1);
    }

    @Test
    void the_health_of_the_store_tells_the_workers_and_since_when_runs_are_ready() {
        assertThat(store().health()).isEqualTo(new StoreHealth(0, 0, Optional.empty()));
        WorkerId worker = join();
        startOwned(worker, "a");
        assertThat(store().health()).isEqualTo(new StoreHealth(1, 0, Optional.empty()));
        advance(Duration.ofDays(1));
        Instant died = now();
        store().leases().leave(worker);
        sweep();
        advance(Duration.ofHours(1));
        startReady("b");
        assertThat(store().health()).isEqualTo(new StoreHealth(0, 2, Optional.of(died)));
    }

    @Test
    void joining_twice_is_joining_once() {
        Joining joining = new Joining(new WorkerId(UUID.randomUUID()), Set.of(DEFINITION), "v1", LONG_LEASE, 2);
        store().leases().join(joining);
        RunRef run = startOwned(joining.id(), "a");
        store().leases().join(joining);

        assertThat(store().leases().owned(joining.id()))
                .extracting(owned -> owned.run())
                .containsExactly(run);
        assertThat(apply(new Lane(joining.id(), 1), advance(run, 1, STAY, step(1, "1"))))
                .isEqualTo(new Outcome.Applied(now(), RunState.RUNNING));
    }

    @Test
    void an_unknown_worker_cannot_renew_and_owns_nothing() {
        WorkerId nobody = new WorkerId(UUID.randomUUID());

        assertThat(store().leases().renew(nobody, HEAP)).isNull();
        assertThat(store().leases().owned(nobody)).isEmpty();
        store().leases().leave(nobody);
    }

    @Test
    void the_sweep_gives_runs_of_the_dead_back_with_a_higher_epoch() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        store().leases().leave(worker);

        assertThat(sweep()).singleElement().satisfies(change -> {
            assertThat(change.runId()).isEqualTo(run.id());
            assertThat(change.definition()).isEqualTo(DEFINITION);
            assertThat(change.state()).isEqualTo(RunState.READY);
            assertThat(change.reason())
                    .hasValueSatisfying(reason -> assertThat(reason).contains(worker.toString()));
        });
        assertThat(sweep()).isEmpty();
        Claimed claimed = claimOne(join());
        assertThat(claimed.epoch()).isEqualTo(3);
        assertThat(claimed.recoveries()).isEqualTo(1);
    }

    @Test
    void the_sweep_leaves_waiting_runs_of_the_dead_alone() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, sleep(Duration.ofHours(1))));
        store().leases().leave(worker);

        assertThat(sweep()).isEmpty();
        assertThat(stateOf(run)).isEqualTo(RunState.SUSPENDED);
    }

    @Test
    void the_sweep_takes_no_more_than_it_was_told() {
        WorkerId worker = join();
        List<Change> starts = new ArrayList<>();
        for (int i = 0; i < 25; i++) {
            starts.add(new Change.Start(newRun("run-" + i), worker));
        }
        store().ledger().apply(new Lane(worker, 0), starts);
        store().leases().leave(worker);

        assertThat(store().leases().sweep(10)).hasSize(10);
        assertThat(store().leases().sweep(10)).hasSize(10);
        assertThat(store().leases().sweep(10)).hasSize(5);
        assertThat(store().leases().sweep(10)).isEmpty();
    }

    /** Lets a worker claim the run and lose its lease, and its process join again, before or after the sweep. */
    private void surviveAnOutage(RunRef run, boolean sweptFirst) {
        WorkerId worker = join();
        assertThat(claimOne(worker).run()).isEqualTo(run);
        store().leases().leave(worker);
        if (sweptFirst) {
            sweep();
        }
        WorkerId next = new WorkerId(UUID.randomUUID());
        store().leases().join(new Joining(next, Set.of(DEFINITION), null, LONG_LEASE, 1, Set.of(worker)));
        sweep();
        assertThat(stateOf(run)).isEqualTo(RunState.READY);
    }

    @Test
    void a_worker_whose_process_joins_again_has_not_died() {
        RunRef run = startReady("innocent");
        for (int i = 0; i < Claimed.PAUSED_AFTER; i++) {
            surviveAnOutage(run, i % 2 == 0);
            assertThat(found(run).info().recoveries()).isZero();
        }
    }

    @Test
    void two_workers_that_lost_one_run_and_join_again_have_both_not_died() {
        RunRef run = startReady("innocent");
        List<WorkerId> lost = new ArrayList<>();
        for (int i = 0; i < Claimed.ALONE_AFTER; i++) {
            WorkerId worker = join();
            assertThat(claimOne(worker).run()).isEqualTo(run);
            store().leases().leave(worker);
            store().leases().sweep(1_000);
            lost.add(worker);
        }
        assertThat(found(run).info().recoveries()).isEqualTo(Claimed.ALONE_AFTER);
        for (WorkerId former : lost) {
            store().leases()
                    .join(new Joining(
                            new WorkerId(UUID.randomUUID()), Set.of(DEFINITION), null, LONG_LEASE, 1, Set.of(former)));
        }
        store().leases().sweep(1_000);
        assertThat(found(run).info().recoveries()).isZero();
        Poll notAlone = new Poll(join(), Set.of(DEFINITION), Set.of(QUEUE), null, 1, false);
        assertThat(store().dispatch().poll(notAlone).claimed())
                .extracting(Claimed::run)
                .containsExactly(run);
    }

    @Test
    void a_run_is_not_left_to_run_alone_by_outages() {
        RunRef run = startReady("innocent");
        for (int i = 1; i < Claimed.ALONE_AFTER; i++) {
            die(run);
        }
        surviveAnOutage(run, true);
        assertThat(found(run).info().recoveries()).isEqualTo(Claimed.ALONE_AFTER - 1);

        WorkerId busy = join();
        Poll notAlone = new Poll(busy, Set.of(DEFINITION), Set.of(QUEUE), null, 1, false);
        assertThat(store().dispatch().poll(notAlone).claimed())
                .extracting(Claimed::run)
                .containsExactly(run);
    }

    @Test
    void a_worker_that_joins_again_takes_back_nothing_that_has_been_forgiven_by_progress() {
        RunRef run = startReady("a");
        WorkerId slow = join();
        claimOne(slow);
        store().leases().leave(slow);
        sweep();
        WorkerId worker = join();
        Claimed claimed = claimOne(worker);
        apply(worker, advance(run, claimed.epoch(), STAY, step(1, "1")));
        store().leases().leave(worker);
        sweep();
        assertThat(found(run).info().recoveries()).isEqualTo(1);

        WorkerId next = new WorkerId(UUID.randomUUID());
        store().leases().join(new Joining(next, Set.of(DEFINITION), null, LONG_LEASE, 1, Set.of(slow)));
        sweep();
        assertThat(found(run).info().recoveries()).isEqualTo(1);
    }

    private WorkerId lose(RunRef run) {
        WorkerId worker = join();
        assertThat(claimOne(worker).run()).isEqualTo(run);
        store().leases().leave(worker);
        sweep();
        return worker;
    }

    private void joinAgain(WorkerId former) {
        WorkerId next = new WorkerId(UUID.randomUUID());
        store().leases().join(new Joining(next, Set.of(DEFINITION), null, LONG_LEASE, 1, Set.of(former)));
        sweep();
    }

    @Test
    void a_worker_that_joins_again_takes_back_nothing_that_has_been_forgiven_by_a_resume() {
        RunRef run = startReady("a");
        WorkerId slow = lose(run);
        command(run, CommandKind.PAUSE, "look");
        command(run, CommandKind.RESUME, "");
        assertThat(found(run).info().recoveries()).isZero();
        lose(run);

        joinAgain(slow);

        assertThat(found(run).info().recoveries()).isEqualTo(1);
    }

    @Test
    void a_worker_that_joins_again_takes_back_nothing_in_a_later_life_of_the_run() {
        RunRef run = startReady("a");
        WorkerId slow = lose(run);
        WorkerId worker = join();
        apply(worker, advance(run, claimOne(worker).epoch(), new Move.Restart(payload("2"), 7)));
        lose(run);

        joinAgain(slow);

        assertThat(found(run).info().recoveries()).isEqualTo(1);
    }

    @Test
    void recoveries_without_progress_count_up_to_the_pause() {
        RunRef run = startReady("poison");
        for (int i = 1; i < Claimed.PAUSED_AFTER; i++) {
            die(run);
            assertThat(found(run).info().recoveries()).isEqualTo(i);
            assertThat(stateOf(run)).isEqualTo(RunState.READY);
        }
        die(run);

        assertThat(stateOf(run)).isEqualTo(RunState.PAUSED);
        assertThat(found(run).info().reason().orElseThrow())
                .contains("Recovered 10 times without progress")
                .contains("the lease of its worker");
        command(run, CommandKind.RESUME, "");
        assertThat(found(run).info().recoveries()).isZero();
    }

    @Test
    void progress_resets_the_count() {
        RunRef run = startReady("a");
        die(run);
        die(run);
        WorkerId worker = join();
        apply(worker, advance(run, claimOne(worker).epoch(), STAY, step(1, "1")));
        store().leases().leave(worker);
        sweep();
        assertThat(found(run).info().recoveries()).isEqualTo(1);

        die(run);
        assertThat(found(run).info().recoveries()).isEqualTo(2);
    }

    @Test
    void a_kill_that_was_not_heard_is_carried_out_by_the_sweep() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        command(run, CommandKind.KILL, "gone");
        store().leases().leave(worker);

        assertThat(sweep()).extracting(RunChange::state).containsExactly(RunState.CANCELLED);
        assertThat(found(run).info().reason()).contains("gone");
    }

    @Test
    void a_pause_that_was_not_heard_is_carried_out_by_the_sweep() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        command(run, CommandKind.PAUSE, "hold on");
        store().leases().leave(worker);

        assertThat(sweep()).extracting(RunChange::state).containsExactly(RunState.PAUSED);
        assertThat(found(run).info().reason()).contains("hold on");
    }

    @Test
    void a_cancel_that_was_not_heard_is_delivered_to_the_next_worker() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        command(run, CommandKind.CANCEL, "enough");
        store().leases().leave(worker);
        sweep();

        Claimed claimed = claimOne(join());
        assertThat(claimed.run()).isEqualTo(run);
        assertThat(claimed.control().cancel()).isEqualTo("enough");
        assertThat(claimed.control().wakes()).isZero();
    }

    @Test
    void a_ready_run_says_that_no_live_worker_has_its_definition() {
        RunRef run = startReady("a");
        assertThat(found(run).info().reason()).contains("No live worker has the definition 'order'.");
        RunRef pinned = startReady(withVersion(newRun("pinned"), "v2"));

        WorkerId worker = join();
        assertThat(found(run).info().reason()).isEmpty();
        assertThat(found(pinned).info().reason())
                .contains("No live worker has the definition 'order' in version 'v2'.");
        store().leases().leave(worker);
        assertThat(found(run).info().reason()).isPresent();
    }
}
