package dev.perdure.conformance.limiter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunState;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Permits;
import dev.perdure.spi.Permits.Answer;
import dev.perdure.spi.Permits.Request;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The line of a limiter: whose turn it is, and which run goes on then. */
public abstract class PermitLineConformance extends LimiterConformance {
    /** For subclasses. */
    protected PermitLineConformance() {}

    @Test
    void those_who_wait_get_permits_in_the_order_in_which_they_asked() {
        declare(stripe().concurrency(1));
        WorkerId worker = join();
        RunRef holder = startOwned(worker, "holder");
        RunRef first = startOwned(worker, "first");
        RunRef second = startOwned(worker, "second");
        take(worker, holder);
        assertThat(take(worker, first)).isEqualTo(Answer.WAITS);
        assertThat(take(worker, second)).isEqualTo(Answer.WAITS);

        record(worker, holder);

        assertThat(take(worker, second)).isEqualTo(Answer.WAITS);
        assertThat(take(worker, startOwned(worker, "third"))).isEqualTo(Answer.WAITS);
        assertThat(take(worker, first)).isEqualTo(Answer.HELD);
        assertThat(take(worker, second)).isEqualTo(Answer.WAITS);
    }

    @Test
    void a_run_that_waits_goes_on_when_its_turn_comes() {
        declare(stripe().concurrency(1));
        WorkerId worker = join();
        RunRef holder = startOwned(worker, "holder");
        RunRef first = startOwned(worker, "first");
        RunRef second = startOwned(worker, "second");
        take(worker, holder);
        waits(worker, first);
        waits(worker, second);
        next();
        assertThat(stateOf(first)).isEqualTo(RunState.SUSPENDED);

        record(worker, holder);
        next();

        assertThat(stateOf(first)).isEqualTo(RunState.READY);
        assertThat(stateOf(second)).isEqualTo(RunState.SUSPENDED);
        Claimed claimed = claimOne(worker);
        assertThat(claimed.run()).isEqualTo(first);
        assertThat(take(worker, request(first, claimed.epoch(), POSITION, 1))).isEqualTo(Answer.HELD);
        next();
        assertThat(stateOf(second)).isEqualTo(RunState.SUSPENDED);
    }

    @Test
    void a_poll_lets_runs_go_on_too() {
        declare(stripe().concurrency(1));
        WorkerId worker = join();
        RunRef holder = startOwned(worker, "holder");
        RunRef first = startOwned(worker, "first");
        take(worker, holder);
        waits(worker, first);
        record(worker, holder);

        polled(worker, 0);

        assertThat(stateOf(first)).isEqualTo(RunState.READY);
    }

    @Test
    void a_run_in_memory_is_woken_when_its_turn_comes_and_does_not_leave() {
        declare(stripe().concurrency(1));
        WorkerId worker = join();
        RunRef holder = startOwned(worker, "holder");
        RunRef first = startOwned(worker, "first");
        take(worker, holder);
        assertThat(take(worker, first)).isEqualTo(Answer.WAITS);
        record(worker, holder);

        next();

        assertThat(polled(worker, 0).signalled())
                .anyMatch(signalled -> signalled.run().equals(first));
        assertThat(apply(worker, advance(first, 1, awaitsPermit()))).isInstanceOf(Outcome.Woken.class);
        assertThat(take(worker, first)).isEqualTo(Answer.HELD);
    }

    @Test
    void a_permit_is_kept_free_for_the_run_whose_turn_it_is() {
        declare(stripe().concurrency(1));
        WorkerId worker = join();
        RunRef holder = startOwned(worker, "holder");
        RunRef first = startOwned(worker, "first");
        RunRef second = startOwned(worker, "second");
        take(worker, holder);
        waits(worker, first);
        record(worker, holder);
        next();

        assertThat(take(worker, second)).isEqualTo(Answer.WAITS);
        assertThat(stateOf(first)).isEqualTo(RunState.READY);
    }

    @Test
    void a_run_that_does_not_come_in_time_is_passed_over_and_keeps_its_place() {
        declare(stripe().concurrency(1));
        WorkerId worker = join();
        RunRef holder = startOwned(worker, "holder");
        RunRef late = startOwned(worker, "late");
        RunRef second = startOwned(worker, "second");
        RunRef third = startOwned(worker, "third");
        take(worker, holder);
        waits(worker, late);
        record(worker, holder);
        next();
        assertThat(take(worker, second)).isEqualTo(Answer.WAITS);

        advance(Permits.GRACE);

        assertThat(take(worker, second)).isEqualTo(Answer.HELD);
        assertThat(take(worker, third)).isEqualTo(Answer.WAITS);
        Claimed claimed = claimOne(worker);
        assertThat(take(worker, request(late, claimed.epoch(), POSITION, 1))).isEqualTo(Answer.WAITS);
        record(worker, second);
        assertThat(take(worker, third)).isEqualTo(Answer.WAITS);
        assertThat(take(worker, request(late, claimed.epoch(), POSITION, 1))).isEqualTo(Answer.HELD);
    }

    @Test
    void a_run_that_waits_for_something_else_is_not_woken_and_delays_no_other() {
        declare(stripe().concurrency(1));
        WorkerId worker = join();
        RunRef holder = startOwned(worker, "holder");
        RunRef asleep = startOwned(worker, "asleep");
        RunRef paused = startOwned(worker, "paused");
        RunRef last = startOwned(worker, "last");
        take(worker, holder);
        take(worker, asleep);
        apply(worker, advance(asleep, 1, sleep(Duration.ofHours(1))));
        take(worker, paused);
        apply(worker, advance(paused, 1, new Move.Pause("look at it")));
        waits(worker, last);
        record(worker, holder);

        next();

        assertThat(stateOf(asleep)).isEqualTo(RunState.SUSPENDED);
        assertThat(stateOf(paused)).isEqualTo(RunState.PAUSED);
        assertThat(stateOf(last)).isEqualTo(RunState.READY);
    }

    @Test
    void a_run_that_is_killed_cancelled_or_begins_anew_gives_up_its_place() {
        declare(stripe().concurrency(1));
        WorkerId worker = join();
        RunRef holder = startOwned(worker, "holder");
        RunRef killed = startOwned(worker, "killed");
        RunRef cancelled = startOwned(worker, "cancelled");
        RunRef anew = startOwned(worker, "anew");
        RunRef last = startOwned(worker, "last");
        take(worker, holder);
        waits(worker, killed);
        take(worker, cancelled);
        take(worker, anew);
        waits(worker, last);

        command(killed, Change.CommandKind.KILL, "stop");
        Entry delivered = new Entry(
                POSITION, Entry.ANSWER, Entry.Kind.STEP, "step" + POSITION, Entry.Status.CANCELLED, payload("stop"));
        apply(worker, advance(cancelled, 1, STAY, delivered));
        apply(worker, advance(anew, 1, new Move.Restart(payload("2"), 77)));
        assertThat(info().waiting()).isGreaterThanOrEqualTo(1);
        record(worker, holder);
        next();

        assertThat(stateOf(last)).isEqualTo(RunState.READY);
        Claimed again = polled(worker, 10).claimed().stream()
                .filter(claimed -> claimed.run().equals(anew))
                .findFirst()
                .orElseThrow();
        assertThat(take(worker, request(anew, again.epoch(), POSITION, 1))).isEqualTo(Answer.WAITS);
    }

    @Test
    void a_command_lets_a_run_go_on_that_waits_for_a_permit() {
        declare(stripe().concurrency(1));
        WorkerId worker = join();
        RunRef holder = startOwned(worker, "holder");
        RunRef waiting = startOwned(worker, "waiting");
        take(worker, holder);
        waits(worker, waiting);

        command(waiting, Change.CommandKind.CANCEL, "no longer needed");

        assertThat(stateOf(waiting)).isEqualTo(RunState.READY);
    }

    @Test
    void many_wait_and_all_of_them_get_their_turns_in_order() {
        declare(stripe().concurrency(3));
        WorkerId worker = join();
        List<RunRef> runs = IntStream.range(0, 300)
                .mapToObj(i -> startOwned(worker, "r" + i))
                .toList();
        List<Request> requests =
                runs.stream().map(run -> request(run, 1, POSITION, 1)).toList();
        List<RunRef> order = new ArrayList<>();

        for (int round = 0; round < 100; round++) {
            List<Answer> answers = store().permits().take(worker, requests);
            List<RunRef> held = IntStream.range(0, runs.size())
                    .filter(i -> answers.get(i) == Answer.HELD)
                    .mapToObj(runs::get)
                    .filter(run -> !order.contains(run))
                    .toList();
            assertThat(held).hasSize(3);
            order.addAll(held);
            held.forEach(run -> record(worker, run));
        }
        assertThat(order).isEqualTo(runs);
    }
}
