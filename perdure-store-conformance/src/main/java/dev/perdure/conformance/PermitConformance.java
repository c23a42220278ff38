package dev.perdure.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunState;
import dev.perdure.queue.Limiter;
import dev.perdure.queue.LimiterInfo;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Permits;
import dev.perdure.spi.Permits.Answer;
import dev.perdure.spi.Permits.Order;
import dev.perdure.spi.Permits.Request;
import dev.perdure.spi.change.Awaited;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Due;
import dev.perdure.spi.change.Entry;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Limiters of steps: who gets a permit, who waits, what gives a permit back, and who goes on then. */
public abstract class PermitConformance extends StoreConformance {
    private static final String STRIPE = "stripe";
    private static final int POSITION = 3;

    /** For subclasses. */
    protected PermitConformance() {}

    private static Limiter stripe() {
        return Limiter.named(STRIPE);
    }

    private void declare(Limiter limiter) {
        store().permits().declare(List.of(limiter));
    }

    private static Request request(RunRef run, long epoch, int position, int attempt) {
        return new Request(STRIPE, run, epoch, position, attempt);
    }

    private Answer take(WorkerId worker, RunRef run) {
        return take(worker, request(run, 1, POSITION, 1));
    }

    private Answer take(WorkerId worker, Request request) {
        return store().permits().take(worker, List.of(request)).getFirst();
    }

    private static Move awaitsPermit() {
        return new Move.Wait(RunState.SUSPENDED, new Due.Never(), new Awaited(Set.of(), 1, Set.of(STRIPE)), 0);
    }

    /** Asks for a permit that is not free, and leaves memory to wait for it. */
    private void waits(WorkerId worker, RunRef run) {
        assertThat(take(worker, run)).isEqualTo(Answer.WAITS);
        assertThat(apply(worker, advance(run, 1, awaitsPermit()))).isInstanceOf(Outcome.Applied.class);
    }

    private void record(WorkerId worker, RunRef run) {
        assertThat(apply(worker, advance(run, 1, STAY, step(POSITION, "1")))).isInstanceOf(Outcome.Applied.class);
    }

    private static Entry attempt(int position, int number) {
        return new Entry(
                position, number, Entry.Kind.STEP, "step" + position, Entry.Status.ATTEMPT, payload("\"failed\""));
    }

    private LimiterInfo info() {
        return store().permits().find(STRIPE).orElseThrow();
    }

    private void next() {
        store().permits().next(Set.of(STRIPE));
    }

    // ---- how many

    @Test
    void no_more_hold_permits_than_the_limit_in_all_workers_together() {
        declare(stripe().concurrency(2));
        WorkerId one = join();
        WorkerId two = join();

        assertThat(take(one, startOwned(one, "a"))).isEqualTo(Answer.HELD);
        assertThat(take(two, startOwned(two, "b"))).isEqualTo(Answer.HELD);
        assertThat(take(one, startOwned(one, "c"))).isEqualTo(Answer.WAITS);
        assertThat(info().held()).isEqualTo(2);
        assertThat(info().waiting()).isEqualTo(1);
    }

    @Test
    void requests_in_one_call_get_permits_in_their_order() {
        declare(stripe().concurrency(2));
        WorkerId worker = join();
        List<Request> requests = IntStream.range(0, 4)
                .mapToObj(i -> request(startOwned(worker, "r" + i), 1, POSITION, 1))
                .toList();

        assertThat(store().permits().take(worker, requests))
                .containsExactly(Answer.HELD, Answer.HELD, Answer.WAITS, Answer.WAITS);
    }

    @Test
    void steps_of_one_run_take_a_permit_each() {
        declare(stripe().concurrency(2));
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");

        assertThat(store().permits()
                        .take(worker, List.of(request(run, 1, 3, 1), request(run, 1, 4, 1), request(run, 1, 5, 1))))
                .containsExactly(Answer.HELD, Answer.HELD, Answer.WAITS);
    }

    @Test
    void asking_again_takes_no_other_permit() {
        declare(stripe().concurrency(2).rate(2, Duration.ofMinutes(1)));
        WorkerId worker = join();
        RunRef run = startOwned(worker, "a");

        assertThat(take(worker, run)).isEqualTo(Answer.HELD);
        assertThat(take(worker, run)).isEqualTo(Answer.HELD);
        assertThat(take(worker, startOwned(worker, "b"))).isEqualTo(Answer.HELD);
        assertThat(take(worker, startOwned(worker, "c"))).isEqualTo(Answer.WAITS);
    }

    @Test
    void a_limiter_without_limits_gives_permits_to_all() {
        declare(stripe());
        WorkerId worker = join();

        for (int i = 0; i < 5; i++) {
            assertThat(take(worker, startOwned(worker, "r" + i))).isEqualTo(Answer.HELD);
        }
    }

    @Test
    void a_limiter_that_is_not_declared_is_unknown() {
        WorkerId worker = join();

        assertThat(take(worker, startOwned(worker, "a"))).isEqualTo(Answer.UNKNOWN);
        assertThat(store().permits().apply(new Order.Pause(STRIPE, "no"))).isFalse();
        assertThat(store().permits().find(STRIPE)).isEmpty();
    }

    @Test
    void a_run_that_the_worker_does_not_hold_gets_no_permit() {
        declare(stripe().concurrency(1));
        WorkerId worker = join();
        WorkerId other = join();
        RunRef run = startOwned(worker, "a");

        assertThat(take(other, run)).isEqualTo(Answer.WAITS);
        assertThat(take(worker, request(run, 2, POSITION, 1))).isEqualTo(Answer.WAITS);
        store().leases().leave(worker);
        assertThat(take(worker, run)).isEqualTo(Answer.WAITS);
        assertThat(info().held()).isZero();
    }

    // ---- what gives a permit back

    @Test
    void the_record_of_the_step_gives_its_permit_back() {
        declare(stripe().concurrency(1));
        WorkerId worker = join();
        RunRef first = startOwned(worker, "a");
        RunRef second = startOwned(worker, "b");

        take(worker, first);
        assertThat(take(worker, second)).isEqualTo(Answer.WAITS);
        record(worker, first);
        assertThat(take(worker, second)).isEqualTo(Answer.HELD);
    }

    @Test
    void the_record_of_a_failed_attempt_gives_its_permit_back_and_the_next_attempt_takes_another() {
        declare(stripe().concurrency(1));
        WorkerId worker = join();
        RunRef first = startOwned(worker, "a");
        RunRef second = startOwned(worker, "b");

        take(worker, first);
        apply(worker, advance(first, 1, STAY, attempt(POSITION, 1)));
        assertThat(take(worker, second)).isEqualTo(Answer.HELD);
        assertThat(take(worker, request(first, 1, POSITION, 2))).isEqualTo(Answer.WAITS);
        record(worker, second);
        assertThat(take(worker, request(first, 1, POSITION, 2))).isEqualTo(Answer.HELD);
    }

    @Test
    void a_run_that_leaves_its_worker_gives_its_permit_back_whichever_way_it_leaves() {
        declare(stripe().concurrency(1));
        WorkerId worker = join();
        List<Move> departures = List.of(
                complete("1"),
                new Move.End(RunState.FAILED, Payload.EMPTY, "broken"),
                new Move.End(RunState.CANCELLED, Payload.EMPTY, "killed"),
                new Move.Yield(),
                new Move.Pause("look at it"),
                new Move.Restart(payload("2"), 77),
                new Move.Wait(RunState.BACKING_OFF, new Due.In(Duration.ofHours(1)), 0),
                new Move.Recover("the engine could not carry it on"));

        for (int i = 0; i < departures.size(); i++) {
            RunRef run = startOwned(worker, "r" + i);
            assertThat(take(worker, run)).as("before %s", departures.get(i)).isEqualTo(Answer.HELD);
            assertThat(apply(worker, advance(run, 1, departures.get(i)))).isInstanceOf(Outcome.Applied.class);
        }
        assertThat(take(worker, startOwned(worker, "last"))).isEqualTo(Answer.HELD);
    }

    @Test
    void the_sweep_gives_back_the_permits_of_a_dead_worker() {
        declare(stripe().concurrency(1));
        WorkerId dead = join();
        RunRef run = startOwned(dead, "a");
        take(dead, run);
        WorkerId worker = join();
        RunRef waiting = startOwned(worker, "b");
        assertThat(take(worker, waiting)).isEqualTo(Answer.WAITS);

        store().leases().leave(dead);
        store().leases().sweep(10);

        assertThat(take(worker, waiting)).isEqualTo(Answer.HELD);
        Claimed again = claimOne(worker);
        assertThat(again.run()).isEqualTo(run);
        assertThat(take(worker, request(run, again.epoch(), POSITION, 1))).isEqualTo(Answer.WAITS);
    }

    // ---- whose turn it is

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

    // ---- rates

    @Test
    void a_rate_limits_how_many_begin_in_any_period() {
        declare(stripe().rate(2, Duration.ofSeconds(10)));
        WorkerId worker = join();
        RunRef a = startOwned(worker, "a");
        RunRef b = startOwned(worker, "b");
        RunRef c = startOwned(worker, "c");

        assertThat(take(worker, a)).isEqualTo(Answer.HELD);
        advance(Duration.ofSeconds(6));
        assertThat(take(worker, b)).isEqualTo(Answer.HELD);
        record(worker, a);
        record(worker, b);
        assertThat(take(worker, c)).isEqualTo(Answer.WAITS);
        advance(Duration.ofSeconds(3));
        assertThat(take(worker, c)).isEqualTo(Answer.WAITS);
        advance(Duration.ofMillis(1_200));
        assertThat(take(worker, c)).isEqualTo(Answer.HELD);
        assertThat(take(worker, startOwned(worker, "d"))).isEqualTo(Answer.WAITS);
    }

    @Test
    void a_burst_spreads_the_rate() {
        declare(stripe().rate(10, Duration.ofSeconds(10)).burst(1));
        WorkerId worker = join();

        assertThat(take(worker, startOwned(worker, "a"))).isEqualTo(Answer.HELD);
        RunRef b = startOwned(worker, "b");
        assertThat(take(worker, b)).isEqualTo(Answer.WAITS);
        advance(Duration.ofMillis(1_020));
        assertThat(take(worker, b)).isEqualTo(Answer.HELD);
    }

    @Test
    void a_poll_says_when_the_rate_allows_more_and_lets_the_next_run_go_on_then() {
        declare(stripe().rate(1, Duration.ofSeconds(10)));
        WorkerId worker = join();
        take(worker, startOwned(worker, "a"));
        RunRef b = startOwned(worker, "b");
        waits(worker, b);

        assertThat(polled(worker, 0).nextDue())
                .isBetween(BEGINNING.plusSeconds(10), BEGINNING.plusSeconds(10).plusMillis(200));
        advance(Duration.ofSeconds(9));
        polled(worker, 0);
        assertThat(stateOf(b)).isEqualTo(RunState.SUSPENDED);
        advance(Duration.ofMillis(1_200));
        polled(worker, 0);
        assertThat(stateOf(b)).isEqualTo(RunState.READY);
    }

    // ---- operators

    @Test
    void an_operator_changes_pauses_and_resets_a_limiter() {
        declare(stripe().concurrency(1));
        WorkerId worker = join();
        RunRef a = startOwned(worker, "a");
        RunRef b = startOwned(worker, "b");
        RunRef c = startOwned(worker, "c");
        take(worker, a);
        assertThat(take(worker, b)).isEqualTo(Answer.WAITS);

        assertThat(store().permits().apply(new Order.Limit(stripe().concurrency(3))))
                .isTrue();
        assertThat(take(worker, b)).isEqualTo(Answer.HELD);
        store().permits().apply(new Order.Pause(STRIPE, "the provider is down"));
        assertThat(take(worker, c)).isEqualTo(Answer.WAITS);
        assertThat(info().paused()).contains("the provider is down");
        assertThat(info().limits().concurrency()).hasValue(3);
        store().permits().apply(new Order.Resume(STRIPE));
        assertThat(take(worker, c)).isEqualTo(Answer.HELD);
        store().permits().apply(new Order.Reset(STRIPE));
        declare(stripe().concurrency(4));
        assertThat(info().declared().concurrency()).hasValue(4);
        assertThat(info().changed().settings()).isEmpty();
    }

    @Test
    void what_operators_changed_survives_another_declaration() {
        declare(stripe().concurrency(1));
        store().permits().apply(new Order.Limit(stripe().rate(5, Duration.ofSeconds(1))));

        declare(stripe().concurrency(2));

        assertThat(info().limits()).isEqualTo(stripe().concurrency(2).rate(5, Duration.ofSeconds(1)));
        assertThat(store().permits().list()).extracting(LimiterInfo::name).containsExactly(STRIPE);
    }

    @Test
    void a_run_that_waits_says_for_what_and_why() {
        declare(stripe().concurrency(1));
        WorkerId worker = join();
        RunRef holder = startOwned(worker, "holder");
        RunRef waiting = startOwned(worker, "waiting");
        take(worker, holder);
        waits(worker, waiting);

        assertThat(found(waiting).info().awaited()).containsExactly("permit of limiter 'stripe'");
        assertThat(found(waiting).info().reason())
                .contains("The limiter 'stripe' is full: 1 of 1 permits are held, by 'holder'.");
        store().permits().apply(new Order.Pause(STRIPE, "the provider is down"));
        assertThat(found(waiting).info().reason()).contains("The limiter 'stripe' is paused: the provider is down");
        store().permits().apply(new Order.Resume(STRIPE));
        store().permits()
                .apply(new Order.Limit(stripe().concurrency(Limiter.UNLIMITED).rate(1, Duration.ofSeconds(8))));
        RunRef other = startOwned(worker, "other");
        assertThat(take(worker, other)).isEqualTo(Answer.WAITS);
        assertThat(info().oldest()).contains(BEGINNING);
    }

    // ---- at the same time

    @Test
    void many_workers_ask_at_once_and_the_limit_holds() throws Exception {
        declare(stripe().concurrency(3));
        List<WorkerId> workers = IntStream.range(0, 8).mapToObj(i -> join()).toList();
        try (ExecutorService threads = Executors.newFixedThreadPool(8)) {
            List<Callable<Long>> asking = new ArrayList<>();
            for (int i = 0; i < workers.size(); i++) {
                WorkerId worker = workers.get(i);
                List<Request> requests = new ArrayList<>();
                for (int j = 0; j < 5; j++) {
                    requests.add(request(startOwned(worker, "r" + i + "-" + j), 1, POSITION, 1));
                }
                asking.add(() -> requests.stream()
                        .filter(request -> take(worker, request) == Answer.HELD)
                        .count());
            }
            long held = 0;
            for (Future<Long> each : threads.invokeAll(asking)) {
                held += each.get();
            }
            assertThat(held).isEqualTo(3);
        }
        assertThat(info().waiting()).isEqualTo(37);
    }
}
