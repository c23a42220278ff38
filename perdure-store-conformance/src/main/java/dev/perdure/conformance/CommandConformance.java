package dev.perdure.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Dispatch.Signalled;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Change.CommandKind;
import dev.perdure.spi.change.Control;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What people and programs want of runs, in every state. */
public abstract class CommandConformance extends StoreConformance {
    /** For subclasses. */
    protected CommandConformance() {}

    private Outcome applied(RunState state) {
        return new Outcome.Applied(now(), state);
    }

    private RunRef suspended(WorkerId worker, String id) {
        RunRef run = startOwned(worker, id);
        apply(worker, advance(run, 1, sleep(Duration.ofHours(1))));
        return run;
    }

    private RunRef paused(WorkerId worker, String id) {
        RunRef run = startOwned(worker, id);
        apply(worker, advance(run, 1, new Move.Pause("does not fit")));
        return run;
    }

    @Test
    void a_pause_taken_back_before_it_is_obeyed_is_not_made() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        command(run, CommandKind.PAUSE, "hold on");
        command(run, CommandKind.RESUME, "");

        assertThat(apply(worker, advance(run, 1, new Move.Pause("hold on", 1))))
                .isEqualTo(new Outcome.Woken(now(), new Control(2, 0, null, null, null)));
        assertThat(apply(worker, advance(run, 1, new Move.Pause("does not fit"))))
                .isEqualTo(applied(RunState.PAUSED));
    }

    @Test
    void cancel_ends_a_run_that_has_never_run() {
        RunRef run = startReady("a");

        assertThat(command(run, CommandKind.CANCEL, "enough")).isEqualTo(changed(RunState.CANCELLED));
        assertThat(store().runs().ended(List.of(run)))
                .containsExactly(new Runs.Ended(run, RunState.CANCELLED, Payload.EMPTY, "enough"));
        assertThat(polled(join(), 10).claimed()).isEmpty();
    }

    @Test
    void cancel_is_delivered_to_a_ready_run_that_has_run_before() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, new Move.Yield()));

        assertThat(command(run, CommandKind.CANCEL, "enough")).isEqualTo(left(RunState.READY));
        Claimed claimed = claimOne(worker);
        assertThat(claimed.control()).isEqualTo(new Control(0, 0, "enough", null, null));
    }

    @Test
    void cancel_wakes_a_waiting_run() {
        WorkerId worker = join();
        RunRef run = suspended(worker, "a");

        assertThat(command(run, CommandKind.CANCEL, "enough")).isEqualTo(changed(RunState.READY));
        assertThat(found(run).info().wakeAt()).isEmpty();
        assertThat(polled(worker, 0).nextDue()).isNull();
        assertThat(claimOne(worker).control().cancel()).isEqualTo("enough");
        assertThat(changesOf(run)).containsExactly("RUNNING", "SUSPENDED", "READY", "RUNNING");
    }

    @Test
    void cancel_of_a_running_run_signals_its_worker_once() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        startOwned(worker, "other");

        assertThat(command(run, CommandKind.CANCEL, "enough")).isEqualTo(left(RunState.RUNNING));
        assertThat(command(run, CommandKind.CANCEL, "once more")).isEqualTo(unchanged(RunState.RUNNING));
        assertThat(polled(worker, 0).signalled())
                .containsExactly(new Signalled(run, 1, new Control(1, 0, "enough", null, null)));
        assertThat(polled(join(), 0).signalled()).isEmpty();
    }

    @Test
    void cancel_of_a_paused_run_waits_with_it() {
        WorkerId worker = join();
        RunRef run = paused(worker, "a");

        assertThat(command(run, CommandKind.CANCEL, "enough")).isEqualTo(left(RunState.PAUSED));
        command(run, CommandKind.RESUME, "");
        assertThat(claimOne(worker).control().cancel()).isEqualTo("enough");
    }

    @Test
    void cancel_ends_a_paused_run_that_has_never_run() {
        RunRef run = startReady("a");
        command(run, CommandKind.PAUSE, "hold on");

        assertThat(command(run, CommandKind.CANCEL, "enough")).isEqualTo(changed(RunState.CANCELLED));
        assertThat(found(run).info().reason()).contains("enough");
    }

    @Test
    void a_pause_is_over_after_resume() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        command(run, CommandKind.PAUSE, "hold on");
        store().leases().leave(worker);
        store().leases().sweep(10);
        command(run, CommandKind.RESUME, "");

        assertThat(claimOne(join()).control().pause()).isNull();
    }

    @Test
    void kill_ends_every_run_that_no_worker_holds() {
        WorkerId worker = join();
        RunRef waiting = suspended(worker, "waiting");
        RunRef paused = paused(worker, "paused");
        RunRef ready = startReady("ready");

        for (RunRef run : List.of(waiting, paused, ready)) {
            assertThat(command(run, CommandKind.KILL, "gone")).isEqualTo(changed(RunState.CANCELLED));
            assertThat(command(run, CommandKind.KILL, "again")).isEqualTo(unchanged(RunState.CANCELLED));
            assertThat(found(run).info().reason()).contains("gone");
        }
        advance(Duration.ofHours(2));
        assertThat(polled(worker, 10).claimed()).isEmpty();
    }

    @Test
    void kill_of_a_running_run_is_left_to_its_worker() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");

        assertThat(command(run, CommandKind.KILL, "gone")).isEqualTo(left(RunState.RUNNING));
        assertThat(polled(worker, 0).signalled())
                .containsExactly(new Signalled(run, 1, new Control(1, 0, null, "gone", null)));
    }

    @Test
    void pause_holds_every_run_that_no_worker_holds() {
        WorkerId worker = join();
        RunRef waiting = suspended(worker, "waiting");
        RunRef ready = startReady("ready");

        for (RunRef run : List.of(waiting, ready)) {
            assertThat(command(run, CommandKind.PAUSE, "hold on")).isEqualTo(changed(RunState.PAUSED));
            assertThat(command(run, CommandKind.PAUSE, "again")).isEqualTo(unchanged(RunState.PAUSED));
            assertThat(found(run).info().reason()).contains("hold on");
        }
        advance(Duration.ofHours(2));
        assertThat(polled(worker, 10).claimed()).isEmpty();
    }

    @Test
    void pause_and_resume_of_a_running_run_signal_its_worker() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");

        command(run, CommandKind.PAUSE, "hold on");
        assertThat(polled(worker, 0).signalled())
                .containsExactly(new Signalled(run, 1, new Control(1, 0, null, null, "hold on")));
        command(run, CommandKind.RESUME, "");
        assertThat(polled(worker, 0).signalled())
                .containsExactly(new Signalled(run, 1, new Control(2, 0, null, null, null)));
    }

    @Test
    void resume_makes_a_paused_run_ready_and_forgives_it() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, new Move.Recover("broken")));
        command(run, CommandKind.PAUSE, "hold on");
        assertThat(found(run).info().recoveries()).isEqualTo(1);

        assertThat(command(run, CommandKind.RESUME, "")).isEqualTo(changed(RunState.READY));
        assertThat(found(run).info().recoveries()).isZero();
        assertThat(claimOne(worker).run()).isEqualTo(run);
    }

    @Test
    void resume_of_a_run_that_is_not_paused_does_nothing() {
        WorkerId worker = join();
        RunRef waiting = suspended(worker, "waiting");
        RunRef running = startOwned(worker, "running");

        assertThat(command(waiting, CommandKind.RESUME, "")).isEqualTo(unchanged(RunState.SUSPENDED));
        assertThat(command(running, CommandKind.RESUME, "")).isEqualTo(unchanged(RunState.RUNNING));
        assertThat(polled(worker, 0).signalled()).isEmpty();
    }

    @Test
    void nothing_changes_an_outcome() {
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");
        apply(worker, advance(run, 1, complete("1")));

        for (CommandKind kind : CommandKind.values()) {
            assertThat(command(run, kind, "late")).isEqualTo(unchanged(RunState.COMPLETED));
        }
        assertThat(store().runs().ended(List.of(run)))
                .containsExactly(new Runs.Ended(run, RunState.COMPLETED, payload("1"), ""));
        assertThat(changesOf(run)).containsExactly("RUNNING", "COMPLETED");
    }

    @Test
    void a_command_to_an_unknown_run_is_unknown() {
        assertThat(apply(Lane.client(0), new Change.Command(RunId.of("none"), CommandKind.KILL, "gone")))
                .isEqualTo(new Outcome.UnknownRun());
    }

    @Test
    void a_paused_run_does_not_wake_by_its_timer_after_resume() {
        WorkerId worker = join();
        RunRef run = suspended(worker, "a");
        command(run, CommandKind.PAUSE, "hold on");
        command(run, CommandKind.RESUME, "");
        advance(Duration.ofHours(2));

        assertThat(claimOne(worker).run()).isEqualTo(run);
        assertThat(polled(worker, 10).claimed()).isEmpty();
    }

    @Test
    void a_run_that_was_paused_anew_since_it_was_seen_is_not_resumed() {
        WorkerId worker = join();
        RunRef run = paused(worker, "a");
        Change.Seen earlier = seen("a");
        advance(Duration.ofSeconds(1));
        command(run, CommandKind.RESUME, "");
        command(run, CommandKind.PAUSE, "look at it first");

        assertThat(apply(Lane.client(0), new Change.Command(run.id(), CommandKind.RESUME, "", null, earlier)))
                .isEqualTo(new Outcome.UnknownRun());
        assertThat(found(run).info().reason()).contains("look at it first");
        assertThat(polled(worker, 10).claimed()).isEmpty();
        assertThat(apply(Lane.client(0), new Change.Command(run.id(), CommandKind.RESUME, "", null, seen("a"))))
                .isEqualTo(changed(RunState.READY));
    }

    @Test
    void a_run_that_has_changed_its_state_since_it_was_seen_obeys_other_commands() {
        WorkerId worker = join();
        RunRef run = suspended(worker, "a");
        Change.Seen earlier = seen("a");
        advance(Duration.ofSeconds(1));
        command(run, CommandKind.PAUSE, "why");

        assertThat(apply(Lane.client(0), new Change.Command(run.id(), CommandKind.KILL, "no", null, earlier)))
                .isEqualTo(changed(RunState.CANCELLED));
    }

    @Test
    void a_run_that_has_got_the_id_since_another_was_seen_obeys_no_command() {
        WorkerId worker = join();
        for (CommandKind kind : List.of(CommandKind.CANCEL, CommandKind.KILL, CommandKind.PAUSE, CommandKind.RESUME)) {
            String id = kind.name();
            paused(worker, id);
            Change.Seen earlier = seen(id);
            free(id);
            RunRef other = kind == CommandKind.RESUME ? paused(worker, id) : startReady(id);
            RunState state = stateOf(other);

            assertThat(apply(Lane.client(0), new Change.Command(other.id(), kind, "why", null, earlier)))
                    .isEqualTo(new Outcome.UnknownRun());
            assertThat(stateOf(other)).isEqualTo(state);
            assertThat(apply(Lane.client(0), new Change.Command(other.id(), kind, "why", null, seen(id))))
                    .isInstanceOf(Outcome.Commanded.class);
            assertThat(stateOf(other)).isNotEqualTo(state);
        }
    }
}
