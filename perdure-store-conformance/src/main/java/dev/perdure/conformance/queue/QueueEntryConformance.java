package dev.perdure.conformance.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.StartKey;
import dev.perdure.queue.Queue.Counting;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Admission;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Channel;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Ways in which a run becomes ready that has already begun, or that another change has let begin: in a queue with limits
 * it takes a place before it runs, or has kept the one that it had, whichever runs count.
 */
public abstract class QueueEntryConformance extends QueueConformance {
    private static final Channel NEWS = Channel.message("news");
    private static final Move FAIL = new Move.End(RunState.FAILED, payload("1"), "broken");
    private static final Duration QUIET = Duration.ofSeconds(10);

    /** For subclasses. */
    protected QueueEntryConformance() {}

    /** One way, in a queue with one place. */
    @FunctionalInterface
    private interface Way {
        void in(WorkerId worker, Counting counting);
    }

    private void whicheverRunsCount(Way way) {
        for (Counting counting : Counting.values()) {
            declare(queue().concurrency(1).counting(counting));
            way.in(join(), counting);
            assertThat(info().load().waiting()).isZero();
            assertThat(info().load().begun()).isZero();
        }
    }

    /** The run of this name has the only place. */
    private Claimed holder(WorkerId worker, String id) {
        ready(id);
        return claimedOf(worker);
    }

    /** The run is ready, and begins when another one has ended that has the place. */
    private void assertWaits(WorkerId worker, RunRef waiting, Claimed holder) {
        assertThat(claim(worker, 10)).isEmpty();
        assertThat(stateOf(waiting)).isEqualTo(RunState.READY);
        end(worker, holder);
        assertBegins(worker, waiting);
    }

    /** The run begins, and no other with it. */
    private void assertBegins(WorkerId worker, RunRef run) {
        Claimed begun = claimedOf(worker);
        assertThat(begun.run()).isEqualTo(run);
        assertThat(claim(worker, 10)).isEmpty();
        end(worker, begun);
    }

    /** Another run waits longer than one that may have kept its place: without a place, it is the first to begin. */
    private void assertKeeps(WorkerId worker, RunRef run, Counting counting, RunRef other) {
        if (counting == Counting.BEGUN) {
            assertBegins(worker, run);
            assertBegins(worker, other);
        } else {
            assertBegins(worker, other);
            assertBegins(worker, run);
        }
    }

    private void apply(Change change) {
        assertThat(apply(Lane.client(0), change)).isInstanceOf(Outcome.Applied.class);
    }

    @Test
    void a_run_that_is_woken_by_mail_takes_a_place_or_has_kept_it() {
        whicheverRunsCount((worker, counting) -> {
            Claimed sleeper = holder(worker, "sleeper-" + counting);
            ready("other-" + counting);
            apply(worker, advance(sleeper.run(), sleeper.epoch(), await(1, NEWS)));
            RunRef other = refOf("other-" + counting);
            if (counting == Counting.BEGUN) {
                assertThat(claim(worker, 10)).isEmpty();
                deliver(sleeper.run(), mail(NEWS, "1"));
                assertBegins(worker, sleeper.run());
                assertBegins(worker, other);
            } else {
                Claimed holder = claimedOf(worker);
                assertThat(holder.run()).isEqualTo(other);
                deliver(sleeper.run(), mail(NEWS, "1"));
                assertWaits(worker, sleeper.run(), holder);
            }
        });
    }

    @Test
    void a_run_that_a_due_time_wakes_takes_a_place_or_has_kept_it_and_one_that_a_cancel_wakes_goes_first() {
        whicheverRunsCount((worker, counting) -> {
            Claimed sleeper = holder(worker, "sleeper-" + counting);
            ready("other-" + counting);
            apply(worker, advance(sleeper.run(), sleeper.epoch(), sleep(Duration.ofHours(1))));
            command(sleeper.run(), Change.CommandKind.CANCEL, "enough");
            assertBegins(worker, sleeper.run());
            assertBegins(worker, refOf("other-" + counting));

            Claimed timed = holder(worker, "timed-" + counting);
            ready("next-" + counting);
            apply(worker, advance(timed.run(), timed.epoch(), sleep(QUIET)));
            advance(QUIET);
            assertKeeps(worker, timed.run(), counting, refOf("next-" + counting));
        });
    }

    @Test
    void a_run_that_is_begun_anew_given_back_or_swept_takes_a_place_or_has_kept_it() {
        whicheverRunsCount((worker, counting) -> {
            Claimed anew = holder(worker, "anew-" + counting);
            ready("beside-" + counting);
            apply(worker, advance(anew.run(), anew.epoch(), new Move.Restart(payload("\"again\""), 77)));
            assertKeeps(worker, anew.run(), counting, refOf("beside-" + counting));

            Claimed back = holder(worker, "back-" + counting);
            ready("other-" + counting);
            apply(worker, advance(back.run(), back.epoch(), new Move.Yield()));
            assertKeeps(worker, back.run(), counting, refOf("other-" + counting));

            Claimed swept = holder(worker, "swept-" + counting);
            ready("next-" + counting);
            store().leases().leave(worker);
            WorkerId survivor = join();
            store().leases().sweep(10);
            assertKeeps(survivor, swept.run(), counting, refOf("next-" + counting));
        });
    }

    @Test
    void a_run_that_is_retried_takes_a_place_again() {
        whicheverRunsCount((worker, counting) -> {
            Claimed failed = holder(worker, "failed-" + counting);
            apply(worker, advance(failed.run(), failed.epoch(), FAIL));
            Claimed holder = holder(worker, "holder-" + counting);
            apply(new Change.Retry(failed.run().id(), found(failed.run()).info().changedAt()));
            assertWaits(worker, failed.run(), holder);
        });
    }

    @Test
    void a_fork_takes_a_place_of_its_own() {
        whicheverRunsCount((worker, counting) -> {
            Claimed forked = holder(worker, "forked-" + counting);
            apply(worker, advance(forked.run(), forked.epoch(), FAIL, step(1, "1")));
            Claimed holder = holder(worker, "holder-" + counting);
            RunId id = RunId.of("fork-" + counting);
            assertThat(apply(
                            Lane.client(0),
                            new Change.Fork(forked.run().id(), 2, id, id.value().hashCode(), null)))
                    .isInstanceOf(Outcome.Started.class);
            assertWaits(worker, refOf(id.value()), holder);
        });
    }

    @Test
    void a_run_that_replaces_another_takes_a_place_when_that_has_ended() {
        whicheverRunsCount((worker, counting) -> {
            StartKey key = StartKey.deduplicate("k-" + counting).replace();
            RunRef first = startReady(keyed("first-" + counting, key));
            Claimed replaced = claimedOf(worker);
            assertThat(replaced.run()).isEqualTo(first);
            ready("other-" + counting);
            RunRef second = startReady(keyed("second-" + counting, key));
            assertThat(stateOf(second)).isEqualTo(RunState.PENDING);
            Move.End takingOver = new Move.End(RunState.CANCELLED, payload("null"), "cancelled", 5);
            assertThat(((Outcome.Applied) apply(worker, advance(first, replaced.epoch(), takingOver))).handed())
                    .isEmpty();
            Claimed other = claimedOf(worker);
            assertThat(other.run()).isEqualTo(refOf("other-" + counting));
            assertWaits(worker, second, other);
        });
    }

    private static NewRun keyed(String id, StartKey key) {
        return run(id).withAdmission(Admission.UNCONDITIONAL.withKey(key, false));
    }

    @Test
    void a_run_whose_delay_or_quiet_time_is_over_takes_a_place() {
        whicheverRunsCount((worker, counting) -> {
            StartKey key = StartKey.debounce("k-" + counting, QUIET, Duration.ofMinutes(1));
            RunRef quiet = startReady(withDelay(run("quiet-" + counting), QUIET)
                    .withAdmission(Admission.UNCONDITIONAL.withKey(key, false)));
            Claimed holder = holder(worker, "holder-" + counting);
            advance(QUIET);
            assertWaits(worker, quiet, holder);
        });
    }

    @Test
    void no_more_than_the_limit_begin_of_runs_that_become_ready_together() {
        whicheverRunsCount((worker, counting) -> {
            Claimed failed = holder(worker, "failed-" + counting);
            apply(worker, advance(failed.run(), failed.epoch(), FAIL));
            Claimed sleeper = holder(worker, "sleeper-" + counting);
            apply(worker, advance(sleeper.run(), sleeper.epoch(), await(1, NEWS)));
            store().ledger()
                    .apply(
                            Lane.client(0),
                            List.of(
                                    new Change.Retry(
                                            failed.run().id(),
                                            found(failed.run()).info().changedAt()),
                                    delivery(sleeper.run(), mail(NEWS, "1"))));
            for (int i = 0; i < 2; i++) {
                Claimed one = claimedOf(worker);
                assertThat(claim(worker, 10)).isEmpty();
                end(worker, one);
            }
        });
    }
}
