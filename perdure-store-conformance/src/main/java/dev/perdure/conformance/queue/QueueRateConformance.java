package dev.perdure.conformance.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunId;
import dev.perdure.queue.Queue;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.QueueRules.Order;
import dev.perdure.spi.change.Admission;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.Task;
import dev.perdure.spi.change.WorkerId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How many runs of a queue may begin in a period. */
public abstract class QueueRateConformance extends QueueConformance {
    /** For subclasses. */
    protected QueueRateConformance() {}

    private static NewRun heavy(String id, int weight) {
        return run(id).withAdmission(new Admission(null, weight));
    }

    private static final Duration SECOND = Duration.ofSeconds(1);
    /** A store may count a run a little longer than the period, never shorter. */
    private static final Duration PERIOD_OVER = Duration.ofMillis(1_020);

    @Test
    void no_more_begin_in_a_period_than_the_rate_and_the_poll_tells_when_more_may() {
        declare(queue().rate(3, SECOND));
        startReady(run("a"));
        startReady(run("b"));
        startReady(run("c"));
        startReady(run("d"));
        startReady(run("e"));
        WorkerId worker = join();
        endAll(worker, taken(worker, 2));
        advance(Duration.ofMillis(500));
        List<Claimed> third = taken(worker, 10);
        assertThat(third).hasSize(1);
        endAll(worker, third);
        assertThat(claim(worker, 10)).isEmpty();
        assertThat(store().dispatch().poll(pollAll(worker, 10)).nextDue())
                .isBetween(BEGINNING.plus(SECOND), BEGINNING.plus(PERIOD_OVER));
        advance(Duration.ofMillis(499));
        assertThat(claim(worker, 10)).isEmpty();

        advance(Duration.ofMillis(21));
        assertThat(claim(worker, 10)).hasSize(2);
    }

    @Test
    void a_run_takes_its_weight_and_is_not_passed_by_lighter_ones() {
        declare(queue().rate(5, SECOND));
        startReady(run("heavy").withAdmission(new Admission(null, 4)));
        advance(Duration.ofMillis(1));
        startReady(run("middle").withAdmission(new Admission(null, 2)));
        advance(Duration.ofMillis(1));
        ready("light");
        WorkerId worker = join();

        assertThat(claim(worker, 10)).containsExactly("heavy");
        assertThat(claim(worker, 10)).isEmpty();
        advance(PERIOD_OVER);
        assertThat(claim(worker, 10)).containsExactly("middle", "light");
    }

    @Test
    void a_run_that_is_heavier_than_the_rate_fills_as_many_periods_as_it_weighs() {
        declare(queue().rate(2, SECOND));
        ready("first");
        advance(Duration.ofMillis(1));
        startReady(heavy("giant", 5));
        advance(Duration.ofMillis(1));
        ready("x", "y");
        WorkerId worker = join();

        assertThat(claim(worker, 10)).containsExactly("first");
        assertThat(claim(worker, 10)).isEmpty();
        advance(PERIOD_OVER);
        assertThat(claim(worker, 10)).containsExactly("giant");
        assertThat(store().dispatch().poll(pollAll(worker, 10)).nextDue())
                .isBetween(now().plus(SECOND.multipliedBy(2)), now().plus(PERIOD_OVER.multipliedBy(2)));
        assertThat(reasonOf("x"))
                .startsWith("The rate of the queue 'limited' allows no more before 2026-01-01T00:00:03");
        advance(Duration.ofMillis(1_999));
        assertThat(claim(worker, 10)).isEmpty();
        advance(Duration.ofMillis(21));
        assertThat(claim(worker, 10)).containsExactly("x");
        advance(Duration.ofMillis(970));
        assertThat(claim(worker, 10)).isEmpty();
        advance(Duration.ofMillis(30));
        assertThat(claim(worker, 10)).containsExactly("y");
    }

    @Test
    void a_run_that_is_heavier_than_the_burst_counts_with_all_its_units() {
        declare(queue().rate(10, SECOND).burst(2));
        startReady(heavy("giant", 10));
        advance(Duration.ofMillis(1));
        ready("x", "y", "z");
        WorkerId worker = join();

        assertThat(claim(worker, 10)).containsExactly("giant");
        advance(Duration.ofMillis(998));
        assertThat(claim(worker, 10)).isEmpty();
        advance(Duration.ofMillis(22));
        assertThat(claim(worker, 10)).containsExactly("x", "y");
    }

    @Test
    void a_run_that_is_heavier_than_the_rate_of_its_key_lets_other_keys_begin() {
        declare(queue().rate(100, SECOND).ratePerKey(2, SECOND));
        startReady(heavy("k/giant", 4).withQueueKey("k"));
        advance(Duration.ofMillis(1));
        readyUnder("k", "k/light");
        readyUnder("l", "l/other");
        WorkerId worker = join();

        assertThat(claim(worker, 10)).containsExactlyInAnyOrder("k/giant", "l/other");
        advance(PERIOD_OVER);
        assertThat(claim(worker, 10)).isEmpty();
        advance(Duration.ofMillis(979));
        assertThat(claim(worker, 10)).isEmpty();
        advance(Duration.ofMillis(41));
        assertThat(claim(worker, 10)).containsExactly("k/light");
    }

    @Test
    void a_run_that_waits_when_the_rate_falls_below_its_weight_counts_with_all_its_units() {
        declare(queue().rate(5, SECOND));
        startReady(heavy("first", 3));
        advance(Duration.ofMillis(1));
        startReady(heavy("second", 4));
        advance(Duration.ofMillis(1));
        ready("light");
        WorkerId worker = join();
        assertThat(claim(worker, 10)).containsExactly("first");

        store().queues().apply(new Order.Limit(queue().rate(2, SECOND)));
        advance(Duration.ofMillis(990));
        assertThat(claim(worker, 10)).isEmpty();
        advance(Duration.ofMillis(30));
        assertThat(claim(worker, 10)).containsExactly("second");
        advance(Duration.ofMillis(1_999));
        assertThat(claim(worker, 10)).isEmpty();
        advance(Duration.ofMillis(41));
        assertThat(claim(worker, 10)).containsExactly("light");
    }

    @Test
    void a_run_that_goes_on_does_not_count_again() {
        declare(queue().rate(1, SECOND));
        ready("sleeper", "next");
        WorkerId worker = join();
        Claimed sleeper = claimedOf(worker);
        apply(worker, advance(sleeper.run(), sleeper.epoch(), sleep(Duration.ofMillis(100))));
        advance(Duration.ofMillis(200));

        assertThat(claim(worker, 10)).containsExactly("sleeper");
        advance(PERIOD_OVER);
        assertThat(claim(worker, 10)).containsExactly("next");
    }

    @Test
    void a_run_that_goes_on_waits_neither_for_a_lower_rate_nor_behind_a_heavy_run() {
        declare(queue().rate(5, SECOND).counting(Queue.Counting.AT_WORK));
        ready("a", "b", "c", "d");
        WorkerId worker = join();
        List<Claimed> taken = taken(worker, 10);
        startReady(run("heavy").withAdmission(new Admission(null, 4)));
        apply(worker, advance(taken.get(0).run(), taken.get(0).epoch(), sleep(Duration.ofMillis(100))));
        advance(Duration.ofMillis(200));
        assertThat(claim(worker, 10)).containsExactly("a");

        store().queues().apply(new Order.Limit(queue().rate(1, SECOND)));
        apply(worker, advance(taken.get(1).run(), taken.get(1).epoch(), sleep(Duration.ofMillis(100))));
        advance(Duration.ofMillis(200));
        assertThat(claim(worker, 10)).containsExactly("b");
    }

    @Test
    void a_fork_counts_when_it_first_begins() {
        declare(queue().rate(1, SECOND));
        ready("a");
        WorkerId worker = join();
        Claimed source = claimedOf(worker);
        apply(worker, advance(source.run(), source.epoch(), STAY, step(1, "1")));
        end(worker, source);
        advance(PERIOD_OVER);
        for (int position = 1; position <= 2; position++) {
            for (String name : List.of("x", "y")) {
                Change fork = new Change.Fork(source.run().id(), position, RunId.of(name + position), position, null);
                assertThat(apply(Lane.client(0), fork)).isInstanceOf(Outcome.Started.class);
            }
        }

        for (int i = 0; i < 4; i++) {
            Claimed fork = claimedOf(worker);
            assertThat(claim(worker, 10)).isEmpty();
            assertThat(reasonOf("y2").startsWith("The rate of the queue 'limited' allows no more before"))
                    .isEqualTo(i < 3);
            end(worker, fork);
            advance(PERIOD_OVER);
        }
    }

    @Test
    void a_run_that_was_cancelled_before_it_began_counts_when_it_is_retried_and_begins() {
        declare(queue().rate(1, SECOND));
        ready("a", "b");
        List.of("a", "b").forEach(id -> command(refOf(id), Change.CommandKind.KILL, "no"));
        List.of("a", "b")
                .forEach(id -> apply(
                        Lane.client(0),
                        new Change.Retry(RunId.of(id), found(refOf(id)).info().changedAt())));
        WorkerId worker = join();

        end(worker, claimedOf(worker));
        assertThat(claim(worker, 10)).isEmpty();
        advance(PERIOD_OVER);
        assertThat(claim(worker, 10)).hasSize(1);
    }

    @Test
    void a_task_that_never_ran_counts_when_its_dag_begins_anew() {
        declare(queue().rate(1, SECOND));
        List<Task> tasks = List.of(new Task(run("t1"), List.of()), new Task(run("t2"), List.of()));
        assertThat(apply(Lane.client(0), new Change.Start(newRun("dag"), null, List.of(), tasks)))
                .isInstanceOf(Outcome.Started.class);
        command(refOf("dag"), Change.CommandKind.KILL, "no");
        assertThat(apply(
                        Lane.client(0), new Change.Rerun(RunId.of("dag"), List.of(RunId.of("t1"), RunId.of("t2")), 77)))
                .isInstanceOf(Outcome.Applied.class);
        WorkerId worker = join();

        assertThat(claim(worker, 10)).hasSize(1);
        advance(PERIOD_OVER);
        assertThat(claim(worker, 10)).hasSize(1);
    }

    @Test
    void each_key_has_a_rate_of_its_own_beside_that_of_the_queue() {
        declare(queue().rate(4, SECOND).ratePerKey(2, SECOND));
        readyUnder("x", "x1", "x2", "x3");
        readyUnder("y", "y1");
        ready("f1", "f2");
        WorkerId worker = join();

        assertThat(claim(worker, 10)).containsExactlyInAnyOrder("x1", "y1", "x2", "f1");
        assertThat(claim(worker, 10)).isEmpty();
        advance(PERIOD_OVER);
        assertThat(claim(worker, 10)).containsExactlyInAnyOrder("x3", "f2");
    }

    @Test
    void a_burst_spreads_what_the_rate_allows() {
        declare(queue().rate(10, SECOND).burst(2));
        ready("a", "b", "c", "d", "e");
        WorkerId worker = join();

        assertThat(claim(worker, 10)).hasSize(2);
        advance(Duration.ofMillis(190));
        assertThat(claim(worker, 10)).isEmpty();
        advance(Duration.ofMillis(15));
        assertThat(claim(worker, 10)).hasSize(2);
        assertThat(claim(worker, 10)).isEmpty();
    }

    @Test
    void a_burst_that_is_no_part_of_the_rate_holds_beside_it() {
        declare(queue().rate(100, SECOND).burst(60));
        for (int i = 0; i < 9; i++) {
            startReady(heavy("r" + i, 20));
            advance(Duration.ofMillis(1));
        }
        WorkerId worker = join();
        Instant begun = now();

        assertThat(claim(worker, 10)).containsExactly("r0", "r1", "r2");
        assertThat(store().dispatch().poll(pollAll(worker, 10)).nextDue())
                .isBetween(begun.plusMillis(600), begun.plusMillis(612));
        assertThat(reasonOf("r3"))
                .startsWith("The rate of the queue 'limited' allows no more before 2026-01-01T00:00:00.6");
        advance(Duration.ofMillis(599));
        assertThat(claim(worker, 10)).isEmpty();
        advance(Duration.ofMillis(13));
        assertThat(claim(worker, 10)).containsExactly("r3", "r4");
        assertThat(store().dispatch().poll(pollAll(worker, 10)).nextDue())
                .isBetween(begun.plus(SECOND), begun.plus(PERIOD_OVER));
        assertThat(reasonOf("r5"))
                .startsWith("The rate of the queue 'limited' allows no more before 2026-01-01T00:00:01");
        advance(Duration.ofMillis(387));
        assertThat(claim(worker, 10)).isEmpty();
        advance(Duration.ofMillis(21));
        assertThat(claim(worker, 10)).containsExactly("r5");
        advance(Duration.ofMillis(190));
        assertThat(claim(worker, 10)).isEmpty();
        advance(Duration.ofMillis(14));
        assertThat(claim(worker, 10)).containsExactly("r6", "r7");
    }

    @Test
    void the_burst_of_a_key_holds_beside_its_rate() {
        declare(queue().ratePerKey(10, SECOND).burstPerKey(6));
        startReady(heavy("k/a", 6).withQueueKey("k"));
        startReady(heavy("k/b", 4).withQueueKey("k"));
        startReady(heavy("k/c", 6).withQueueKey("k"));
        WorkerId worker = join();

        assertThat(claim(worker, 10)).containsExactly("k/a");
        assertThat(store().dispatch().poll(pollAll(worker, 10)).nextDue())
                .isBetween(BEGINNING.plusMillis(600), BEGINNING.plusMillis(612));
        advance(Duration.ofMillis(612));
        assertThat(claim(worker, 10)).containsExactly("k/b");
        assertThat(reasonOf("k/c"))
                .startsWith("The rate of the key 'k' of the queue 'limited' allows no more before 2026-01-01T00:00:01");
        advance(Duration.ofMillis(599));
        assertThat(claim(worker, 10)).isEmpty();
        advance(Duration.ofMillis(13));
        assertThat(claim(worker, 10)).containsExactly("k/c");
    }

    @Test
    void what_began_under_a_rate_counts_for_the_one_that_replaces_it() {
        declare(queue().rate(3, SECOND));
        ready("a", "b", "c", "d", "e");
        WorkerId worker = join();
        assertThat(claim(worker, 10)).hasSize(3);
        advance(Duration.ofMillis(500));

        store().queues().apply(new Order.Limit(queue().rate(2, Duration.ofSeconds(10))));
        assertThat(reasonOf("e"))
                .startsWith("The rate of the queue 'limited' allows no more before 2026-01-01T00:00:10");
        advance(Duration.ofSeconds(9));
        assertThat(claim(worker, 10)).isEmpty();
        store().queues().apply(new Order.Limit(queue().rate(4, Duration.ofSeconds(10))));
        assertThat(claim(worker, 10)).hasSize(1);
        store().queues().apply(new Order.Limit(queue().rate(1, SECOND)));
        assertThat(claim(worker, 10)).isEmpty();
        assertThat(store().dispatch().poll(pollAll(worker, 10)).nextDue())
                .isBetween(now().plus(SECOND), now().plusMillis(1_100));
        advance(Duration.ofMillis(1_100));
        assertThat(claim(worker, 10)).hasSize(1);
    }

    @Test
    void what_began_before_there_was_a_rate_does_not_count() {
        declare(queue().concurrency(10));
        ready("a", "b", "c");
        WorkerId worker = join();
        assertThat(claim(worker, 1)).hasSize(1);

        store().queues().apply(new Order.Limit(queue().rate(1, SECOND)));
        assertThat(claim(worker, 10)).hasSize(1);
        assertThat(claim(worker, 10)).isEmpty();
    }

    @Test
    void a_rate_and_a_limit_hold_together_and_a_run_that_waits_for_the_rate_takes_no_place() {
        declare(queue().rate(1, SECOND).concurrency(1));
        ready("a", "b");
        WorkerId worker = join();
        end(worker, claimedOf(worker));
        assertThat(claim(worker, 10)).isEmpty();
        assertThat(info().load().begun()).isZero();
        advance(PERIOD_OVER);
        assertThat(claim(worker, 10)).containsExactly("b");
    }

    @Test
    void a_run_that_waits_for_a_rate_says_so() {
        declare(queue().rate(1, SECOND).ratePerKey(1, Duration.ofMinutes(1)));
        readyUnder("x", "x1", "x2");
        ready("free");
        WorkerId worker = join();
        taken(worker, 10);

        assertThat(reasonOf("free"))
                .startsWith("The rate of the queue 'limited' allows no more before 2026-01-01T00:00:01");
        assertThat(reasonOf("x2"))
                .startsWith("The rate of the key 'x' of the queue 'limited' allows no more before 2026-01-01T00:01:00");
        advance(PERIOD_OVER);
        assertThat(reasonOf("free")).isEmpty();
    }
}
