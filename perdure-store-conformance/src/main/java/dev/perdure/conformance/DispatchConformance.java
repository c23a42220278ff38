package dev.perdure.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunState;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Dispatch.Poll;
import dev.perdure.spi.Dispatch.Polled;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Claims, timers and what else a poll tells. */
public abstract class DispatchConformance extends StoreConformance {
    /** For subclasses. */
    protected DispatchConformance() {}

    private RunRef recovered(WorkerId worker, String id, int times) {
        RunRef run = startOwned(worker, id);
        apply(worker, advance(run, 1, new Move.Recover("broken")));
        for (int i = 1; i < times; i++) {
            Claimed claimed = claimOne(worker);
            apply(worker, advance(run, claimed.epoch(), new Move.Recover("broken")));
        }
        return run;
    }

    @Test
    void claims_go_by_priority_and_then_by_age() {
        WorkerId worker = join();
        startReady("first");
        advance(Duration.ofMillis(1));
        startReady("second");
        advance(Duration.ofMillis(1));
        startReady(withPriority(newRun("urgent"), 5));
        startReady(withPriority(newRun("whenever"), -5));
        startReady(withPriority(newRun("most urgent"), Integer.MAX_VALUE));
        startReady(withPriority(newRun("least urgent"), Integer.MIN_VALUE));

        assertThat(claimedIds(poll(worker, 4))).containsExactly("most urgent", "urgent", "first", "second");
        assertThat(claimedIds(poll(worker, 4))).containsExactly("whenever", "least urgent");
    }

    @Test
    void a_run_that_becomes_ready_again_queues_at_the_end() {
        WorkerId worker = join();
        RunRef old = startOwned(worker, "old");
        startReady("young");
        advance(Duration.ofMillis(1));
        apply(worker, advance(old, 1, new Move.Yield()));

        assertThat(claimedIds(poll(worker, 2))).containsExactly("young", "old");
    }

    @Test
    void a_worker_gets_only_what_it_can_run() {
        startReady(withDefinition(newRun("other definition"), "other"));
        startReady(withQueue(newRun("other queue"), "slow"));
        startReady(withVersion(newRun("pinned"), "v2"));
        startReady("plain");
        WorkerId plain = join();
        WorkerId versioned = join(Set.of(DEFINITION), "v2");

        assertThat(claimedIds(poll(plain, 10))).containsExactly("plain");
        assertThat(claimedIds(new Poll(versioned, Set.of(DEFINITION), Set.of(QUEUE), "v2", 10, true)))
                .containsExactly("pinned");
        assertThat(claimedIds(new Poll(plain, Set.of(DEFINITION, "other"), Set.of(QUEUE, "slow"), null, 10, true)))
                .containsExactlyInAnyOrder("other definition", "other queue");
    }

    @Test
    void a_dead_or_unknown_worker_gets_nothing() {
        startReady("a");
        WorkerId left = join();
        store().leases().leave(left);

        assertThat(polled(left, 10)).isEqualTo(new Polled(List.of(), List.of(), null, false));
        assertThat(polled(new WorkerId(UUID.randomUUID()), 10).claimed()).isEmpty();
        assertThat(claimedIds(poll(join(), 10))).containsExactly("a");
    }

    @Test
    void a_claim_raises_the_epoch_and_is_owned() {
        WorkerId worker = join();
        RunRef run = startReady("a");

        assertThat(claimOne(worker).epoch()).isEqualTo(1);
        assertThat(stateOf(run)).isEqualTo(RunState.RUNNING);
        assertThat(store().leases().owned(worker))
                .singleElement()
                .satisfies(owned -> assertThat(owned.epoch()).isEqualTo(1));
        assertThat(polled(worker, 10).claimed()).isEmpty();
    }

    @Test
    void limit_zero_claims_nothing() {
        startReady("a");
        WorkerId worker = join();

        assertThat(polled(worker, 0).claimed()).isEmpty();
        assertThat(polled(worker, 1).claimed()).hasSize(1);
    }

    @Test
    void a_timer_fires_when_it_is_due_and_not_before() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, sleep(Duration.ofSeconds(10))));

        assertThat(polled(worker, 10).nextDue()).isEqualTo(BEGINNING.plusSeconds(10));
        advance(Duration.ofSeconds(10).minusNanos(1_000));
        assertThat(polled(worker, 10).claimed()).isEmpty();
        advance(Duration.ofNanos(1_000));
        Polled polled = polled(worker, 10);
        assertThat(polled.claimed()).hasSize(1);
        assertThat(polled.nextDue()).isNull();
        assertThat(changesOf(run)).containsExactly("RUNNING", "SUSPENDED", "READY", "RUNNING");
        assertThat(found(run).info().wakeAt()).isEmpty();
    }

    @Test
    void due_runs_become_ready_even_if_nothing_is_claimed() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, sleep(Duration.ofSeconds(10))));
        advance(Duration.ofMinutes(1));

        polled(worker, 0);
        assertThat(stateOf(run)).isEqualTo(RunState.READY);
    }

    @Test
    void next_due_is_the_earliest() {
        WorkerId worker = join();
        apply(worker, advance(startOwned(worker, "late"), 1, sleep(Duration.ofSeconds(20))));
        apply(worker, advance(startOwned(worker, "early"), 1, sleep(Duration.ofSeconds(10))));

        assertThat(polled(worker, 10).nextDue()).isEqualTo(BEGINNING.plusSeconds(10));
    }

    @Test
    void a_run_recovered_too_often_waits_for_a_worker_that_holds_nothing() {
        WorkerId worker = join();
        RunRef run = recovered(worker, "poison", Claimed.ALONE_AFTER);
        startReady("innocent");

        Poll busy = new Poll(worker, Set.of(DEFINITION), Set.of(QUEUE), null, 10, false);
        Polled polled = store().dispatch().poll(busy);
        assertThat(polled.aloneWaits()).isTrue();
        assertThat(polled.claimed())
                .extracting(claimed -> claimed.run().id().value())
                .containsExactly("innocent");

        Polled alone = polled(worker, 10);
        assertThat(alone.claimed()).singleElement().satisfies(claimed -> {
            assertThat(claimed.run()).isEqualTo(run);
            assertThat(claimed.alone()).isTrue();
        });
        assertThat(alone.aloneWaits()).isFalse();
    }

    @Test
    void a_run_that_has_to_run_alone_is_claimed_alone_when_it_comes_first() {
        WorkerId worker = join();
        recovered(worker, "poison", Claimed.ALONE_AFTER);
        advance(Duration.ofMillis(1));
        startReady("innocent");

        assertThat(claimedIds(poll(worker, 10))).containsExactly("poison");
        assertThat(claimedIds(poll(worker, 10))).containsExactly("innocent");
    }

    @Test
    void a_run_that_has_to_run_alone_waits_behind_older_ones() {
        WorkerId worker = join();
        startReady(withPriority(newRun("innocent"), -1));
        recovered(worker, "poison", Claimed.ALONE_AFTER);
        startReady(withPriority(newRun("urgent"), 1));

        Polled polled = polled(worker, 10);
        assertThat(polled.claimed())
                .extracting(claimed -> claimed.run().id().value())
                .containsExactly("urgent", "innocent");
        assertThat(polled.aloneWaits()).isTrue();
    }

    @Test
    void a_run_that_has_made_progress_need_not_run_alone_any_more() {
        WorkerId worker = join();
        RunRef run = recovered(worker, "forgiven", Claimed.ALONE_AFTER);
        Claimed claimed = claimOne(worker);
        assertThat(claimed.alone()).isTrue();
        apply(worker, advance(run, claimed.epoch(), STAY, step(1, "1")));
        assertThat(found(run).info().recoveries()).isZero();
        apply(worker, advance(run, claimed.epoch(), new Move.Yield()));
        startReady("innocent");

        assertThat(claimedIds(poll(worker, 10))).containsExactlyInAnyOrder("forgiven", "innocent");
    }

    @Test
    void alone_waits_says_so_without_claiming() {
        WorkerId worker = join();
        recovered(worker, "poison", Claimed.ALONE_AFTER);

        assertThat(polled(worker, 0).aloneWaits()).isTrue();
        assertThat(store().dispatch()
                        .poll(new Poll(worker, Set.of("other"), Set.of(QUEUE), null, 10, true))
                        .aloneWaits())
                .isFalse();
    }
}
