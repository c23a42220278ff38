package dev.perdure.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Control;
import dev.perdure.spi.change.Due;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.Recorded;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Transitions of runs that a worker holds. */
public abstract class AdvanceConformance extends StoreConformance {
    /** For subclasses. */
    protected AdvanceConformance() {}

    @Test
    void appended_entries_are_recorded_with_the_time_of_the_commit() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        advance(Duration.ofSeconds(5));

        assertThat(apply(worker, advance(run, 1, STAY, step(1, "1"), step(2, "2"))))
                .isEqualTo(new Outcome.Applied(now(), RunState.RUNNING));
        assertThat(store().journals().read(run, 0, 1_000).entries())
                .containsExactly(new Recorded(step(1, "1"), now()), new Recorded(step(2, "2"), now()));
    }

    @Test
    void append_sent_twice_is_already_there_and_changes_nothing() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, STAY, step(1, "first")));
        advance(Duration.ofSeconds(5));

        assertThat(apply(worker, advance(run, 1, STAY, step(1, "second"))))
                .isEqualTo(new Outcome.AlreadyThere(BEGINNING, RunState.RUNNING));
        assertThat(journalOf(run)).containsExactly(step(1, "first"));
    }

    @Test
    void one_repeated_append_does_not_disturb_its_neighbours() {
        WorkerId worker = join();
        List<RunRef> runs = IntStream.range(0, 20)
                .mapToObj(i -> startOwned(worker, "run-" + i))
                .toList();
        apply(worker, advance(runs.get(7), 1, STAY, step(1, "1")));
        advance(Duration.ofSeconds(1));

        List<Outcome> outcomes = store().ledger()
                .apply(
                        new Lane(worker, 1),
                        runs.stream()
                                .<Change>map(run -> advance(run, 1, STAY, step(1, "1")))
                                .toList());

        assertThat(outcomes.get(7)).isEqualTo(new Outcome.AlreadyThere(BEGINNING, RunState.RUNNING));
        assertThat(outcomes).filteredOn(Outcome.Applied.class::isInstance).hasSize(19);
    }

    @Test
    void every_lane_of_a_worker_that_left_is_fenced() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        store().leases().leave(worker);

        for (int lane = 0; lane < 4; lane++) {
            List<Outcome> outcomes = store().ledger()
                    .apply(
                            new Lane(worker, lane),
                            List.of(advance(run, 1, STAY, step(1, "1")), new Change.Start(newRun("b"), worker)));
            assertThat(outcomes).containsOnly(new Outcome.Fenced());
            assertThat(apply(new Lane(worker, lane), advance(run, 1, complete("1"))))
                    .isEqualTo(new Outcome.Fenced());
        }
        assertThat(journalOf(run)).isEmpty();
        assertThat(stateOf(run)).isEqualTo(RunState.RUNNING);
    }

    @Test
    void a_move_under_an_old_epoch_is_fenced() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, new Move.Yield()));
        assertThat(claimOne(worker).epoch()).isEqualTo(2);

        assertThat(apply(worker, advance(run, 1, complete("1"), step(1, "1")))).isEqualTo(new Outcome.Fenced());
        assertThat(journalOf(run)).isEmpty();
        assertThat(stateOf(run)).isEqualTo(RunState.RUNNING);
    }

    @Test
    void a_move_of_a_run_that_another_worker_holds_is_fenced() {
        WorkerId worker = join();
        WorkerId other = join();
        RunRef run = startOwned(worker, "a");

        assertThat(apply(other, advance(run, 1, complete("1"), step(1, "1")))).isEqualTo(new Outcome.Fenced());
        assertThat(apply(Lane.client(0), advance(run, 1, complete("1")))).isEqualTo(new Outcome.Fenced());
        assertThat(journalOf(run)).isEmpty();
    }

    @Test
    void a_move_of_a_run_that_is_not_there_is_unknown() {
        WorkerId worker = join();

        assertThat(apply(worker, advance(new RunRef(RunId.of("none"), 1L << 40), 1, complete("1"))))
                .isEqualTo(new Outcome.UnknownRun());
    }

    @Test
    void completion_stores_the_outcome_and_leaves_the_journal_alone() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        advance(Duration.ofSeconds(1));

        assertThat(apply(worker, advance(run, 1, complete("\"done\""), step(1, "1"))))
                .isEqualTo(new Outcome.Applied(now(), RunState.COMPLETED));
        assertThat(store().runs().ended(List.of(run)))
                .containsExactly(new Runs.Ended(run, RunState.COMPLETED, payload("\"done\""), ""));
        assertThat(journalOf(run)).containsExactly(step(1, "1"));
        assertThat(changesOf(run)).containsExactly("RUNNING", "COMPLETED");
        assertThat(store().leases().owned(worker)).isEmpty();
    }

    @Test
    void completion_sent_twice_is_already_there_but_another_outcome_is_fenced() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, complete("1"), step(1, "1")));
        advance(Duration.ofSeconds(1));

        assertThat(apply(worker, advance(run, 1, complete("1"), step(1, "1"))))
                .isEqualTo(new Outcome.AlreadyThere(BEGINNING, RunState.COMPLETED));
        assertThat(apply(worker, advance(run, 1, complete("2"), step(1, "1")))).isEqualTo(new Outcome.Fenced());
        assertThat(apply(worker, advance(run, 1, complete("1"), step(2, "2")))).isEqualTo(new Outcome.Fenced());
        assertThat(store().runs().ended(List.of(run)).getFirst().outcome()).isEqualTo(payload("1"));
    }

    @Test
    void failure_and_pause_keep_their_reasons() {
        WorkerId worker = join();
        RunRef failed = startOwned(worker, "failed");
        RunRef paused = startOwned(worker, "paused");
        apply(worker, advance(failed, 1, new Move.End(RunState.FAILED, payload("{}"), "it broke\0\uD800")));
        apply(worker, advance(paused, 1, new Move.Pause("code does not fit")));

        assertThat(found(failed).info().reason().orElseThrow()).startsWith("it broke");
        assertThat(found(paused).info().reason()).contains("code does not fit");
        assertThat(changesOf(paused)).containsExactly("RUNNING", "PAUSED: code does not fit");
        assertThat(store().leases().owned(worker)).isEmpty();
        assertThat(apply(worker, advance(paused, 1, new Move.Pause("code does not fit"))))
                .isEqualTo(new Outcome.AlreadyThere(BEGINNING, RunState.PAUSED));
    }

    @Test
    void a_yielded_run_is_ready_for_any_worker() {
        WorkerId worker = join();
        WorkerId other = join();
        RunRef run = startOwned(worker, "a");

        assertThat(apply(worker, advance(run, 1, new Move.Yield(), step(1, "1"))))
                .isEqualTo(new Outcome.Applied(now(), RunState.READY));
        assertThat(apply(worker, advance(run, 1, new Move.Yield(), step(1, "1"))))
                .isEqualTo(new Outcome.AlreadyThere(now(), RunState.READY));
        assertThat(claimOne(other).epoch()).isEqualTo(2);
        assertThat(changesOf(run)).containsExactly("RUNNING", "READY", "RUNNING");
    }

    @Test
    void a_waiting_run_is_due_by_the_time_of_the_commit_or_at_a_given_time() {
        WorkerId worker = join();
        RunRef delayed = startOwned(worker, "delayed");
        RunRef timed = startOwned(worker, "timed");
        advance(Duration.ofSeconds(1));

        assertThat(apply(worker, advance(delayed, 1, sleep(Duration.ofSeconds(10)))))
                .isEqualTo(new Outcome.Applied(now(), RunState.SUSPENDED));
        apply(worker, advance(timed, 1, new Move.Wait(RunState.BACKING_OFF, new Due.At(now().plusSeconds(20)), 0)));

        assertThat(found(delayed).info().wakeAt()).contains(now().plusSeconds(10));
        assertThat(found(timed).info().wakeAt()).contains(now().plusSeconds(20));
        assertThat(stateOf(timed)).isEqualTo(RunState.BACKING_OFF);
    }

    @Test
    void a_wait_sent_twice_is_already_there() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, sleep(Duration.ofSeconds(10)), step(1, "1")));
        advance(Duration.ofSeconds(1));

        assertThat(apply(worker, advance(run, 1, sleep(Duration.ofSeconds(10)), step(1, "1"))))
                .isEqualTo(new Outcome.AlreadyThere(BEGINNING, RunState.SUSPENDED));
        assertThat(found(run).info().wakeAt()).contains(BEGINNING.plusSeconds(10));
    }

    @Test
    void a_wait_for_ever_is_stored() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");

        apply(worker, advance(run, 1, sleep(Duration.ofSeconds(Long.MAX_VALUE / 1_000_000_000))));

        assertThat(found(run).info().wakeAt().orElseThrow()).isAfter(now().plus(Duration.ofDays(365 * 100)));
    }

    @Test
    void a_run_woken_before_it_waits_stays_and_keeps_its_entries() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        command(run, Change.CommandKind.CANCEL, "enough");
        advance(Duration.ofSeconds(1));

        Outcome woken = apply(worker, advance(run, 1, sleep(Duration.ofSeconds(10)), step(1, "1")));
        assertThat(woken).isEqualTo(new Outcome.Woken(now(), new Control(1, 0, "enough", null, null)));
        assertThat(stateOf(run)).isEqualTo(RunState.RUNNING);
        assertThat(journalOf(run)).containsExactly(step(1, "1"));

        advance(Duration.ofSeconds(1));
        assertThat(apply(worker, advance(run, 1, sleep(Duration.ofSeconds(10)), step(1, "1"))))
                .isEqualTo(woken);
    }

    @Test
    void a_wait_after_being_woken_counts_from_the_entries_it_appended_first() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        command(run, Change.CommandKind.CANCEL, "enough");
        apply(worker, advance(run, 1, sleep(Duration.ofSeconds(10)), step(1, "1")));
        advance(Duration.ofSeconds(3));

        Move seen = new Move.Wait(RunState.SUSPENDED, new Due.In(Duration.ofSeconds(10)), 1);
        assertThat(apply(worker, advance(run, 1, seen, step(1, "1"))))
                .isEqualTo(new Outcome.Applied(BEGINNING, RunState.SUSPENDED));
        assertThat(found(run).info().wakeAt()).contains(BEGINNING.plusSeconds(10));
    }

    @Test
    void a_mixed_batch_answers_each_change_in_its_place() {
        WorkerId worker = join();
        RunRef stays = startOwned(worker, "stays");
        RunRef ends = startOwned(worker, "ends");
        RunRef waits = startOwned(worker, "waits");
        RunRef ready = startReady("ready");

        List<Outcome> outcomes = store().ledger()
                .apply(
                        new Lane(worker, 2),
                        List.of(
                                new Change.Command(RunId.of("none"), Change.CommandKind.CANCEL, "x"),
                                advance(ends, 1, complete("1")),
                                new Change.Start(newRun("new"), worker),
                                advance(stays, 1, STAY, step(1, "1")),
                                new Change.Command(ready.id(), Change.CommandKind.PAUSE, "later"),
                                advance(waits, 1, sleep(Duration.ofSeconds(1)), step(1, "1")),
                                new Change.Start(newRun("for anyone"), null)));

        assertThat(outcomes.get(0)).isEqualTo(new Outcome.UnknownRun());
        assertThat(outcomes.get(1)).isEqualTo(new Outcome.Applied(now(), RunState.COMPLETED));
        assertThat(outcomes.get(2)).isInstanceOf(Outcome.Started.class);
        assertThat(outcomes.get(3)).isEqualTo(new Outcome.Applied(now(), RunState.RUNNING));
        assertThat(outcomes.get(4)).isEqualTo(changed(RunState.PAUSED));
        assertThat(outcomes.get(5)).isEqualTo(new Outcome.Applied(now(), RunState.SUSPENDED));
        assertThat(outcomes.get(6)).isInstanceOf(Outcome.Started.class);
    }

    @Test
    void a_run_given_up_counts_as_recovered_and_is_ready() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");

        assertThat(apply(worker, advance(run, 1, new Move.Recover("cannot decode"))))
                .isEqualTo(new Outcome.Applied(now(), RunState.READY));
        assertThat(found(run).info().recoveries()).isEqualTo(1);
        assertThat(changesOf(run)).containsExactly("RUNNING", "READY: cannot decode");
        assertThat(claimOne(worker).epoch()).isEqualTo(3);
    }

    @Test
    void entries_and_notes_are_kept_apart() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        Entry begun = new Entry(1, 1, Entry.Kind.SLEEP, "PT5S", Entry.Status.BEGUN, payload(""));
        Entry attempt = new Entry(2, 1, Entry.Kind.STEP, "charge", Entry.Status.ATTEMPT, payload("{}"));
        Entry failed = new Entry(2, 0, Entry.Kind.STEP, "charge", Entry.Status.FAILURE, payload("{}"));
        apply(worker, advance(run, 1, STAY, begun, attempt));
        apply(worker, advance(run, 1, STAY, failed));

        assertThat(journalOf(run)).containsExactly(begun, failed, attempt);
    }
}
