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
import dev.perdure.spi.change.Task;
import dev.perdure.spi.change.WorkerId;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How many runs of a queue may begin in a period. */
public abstract class QueueRateConformance extends QueueConformance {
    /** For subclasses. */
    protected QueueRateConformance() {}

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
    void a_run_that_is_heavier_than_the_rate_takes_all_of_it() {
        declare(queue().rate(2, SECOND));
        startReady(run("giant").withAdmission(new Admission(null, 50)));
        advance(Duration.ofMillis(1));
        ready("light");
        WorkerId worker = join();

        assertThat(claim(worker, 10)).containsExactly("giant");
        advance(PERIOD_OVER);
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
