package dev.perdure.conformance.limiter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunState;
import dev.perdure.queue.Limiter;
import dev.perdure.queue.LimiterInfo;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Leases.Joining;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Permits.Answer;
import dev.perdure.spi.Permits.Order;
import dev.perdure.spi.Permits.Request;
import dev.perdure.spi.change.Due;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Permits of limiters: how many there are, what gives one back, rates, and what operators change. */
public abstract class PermitConformance extends LimiterConformance {
    /** For subclasses. */
    protected PermitConformance() {}

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

    @Test
    void a_worker_whose_lease_has_ended_is_not_told_that_the_limiter_is_unknown() {
        declare(stripe().concurrency(1));
        WorkerId lost = join();
        RunRef run = startOwned(lost, "a");
        WorkerId next = new WorkerId(UUID.randomUUID());
        store().leases().join(new Joining(next, Set.of(DEFINITION), null, LONG_LEASE, 1, Set.of(lost)));
        store().leases().sweep(10);

        assertThat(take(lost, run))
                .as("it would declare the limiter again and again")
                .isEqualTo(Answer.WAITS);
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
            RunRef run = startOwned(worker, "r/" + i);
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
    void a_burst_that_is_no_part_of_the_rate_holds_beside_it() {
        declare(stripe().rate(5, Duration.ofSeconds(10)).burst(3));
        WorkerId worker = join();
        List<RunRef> asking = asking(worker, 7);

        assertThat(held(worker, asking)).isEqualTo(3);
        advance(Duration.ofMillis(5_990));
        assertThat(held(worker, asking)).isZero();
        advance(Duration.ofMillis(70));
        assertThat(held(worker, asking)).isEqualTo(2);
        advance(Duration.ofMillis(3_930));
        assertThat(held(worker, asking)).isZero();
        advance(Duration.ofMillis(110));
        assertThat(held(worker, asking)).isEqualTo(1);
    }

    @Test
    void what_began_under_a_rate_counts_for_the_one_that_replaces_it() {
        declare(stripe().rate(2, Duration.ofSeconds(1)));
        WorkerId worker = join();
        List<RunRef> asking = asking(worker, 5);
        assertThat(held(worker, asking)).isEqualTo(2);
        advance(Duration.ofMillis(500));

        store().permits().apply(new Order.Limit(stripe().rate(3, Duration.ofSeconds(10))));
        advance(Duration.ofSeconds(9));
        assertThat(held(worker, asking)).isEqualTo(1);
        store().permits().apply(new Order.Limit(stripe().rate(2, Duration.ofSeconds(1))));
        assertThat(held(worker, asking)).isEqualTo(1);
    }

    private List<RunRef> asking(WorkerId worker, int runs) {
        return IntStream.range(0, runs)
                .mapToObj(i -> startOwned(worker, "asking-" + i))
                .collect(Collectors.toCollection(ArrayList::new));
    }

    /** Lets these runs ask for permits, and takes those that get one out of the list. Returns how many. */
    private int held(WorkerId worker, List<RunRef> asking) {
        int before = asking.size();
        asking.removeIf(run -> take(worker, run) == Answer.HELD);
        return before - asking.size();
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
