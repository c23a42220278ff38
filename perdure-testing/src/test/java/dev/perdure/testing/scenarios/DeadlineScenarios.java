package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static dev.perdure.StepOptions.retry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.DurableFuture;
import dev.perdure.Invocation;
import dev.perdure.RetryPolicy;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.Topic;
import dev.perdure.error.DeadlineExceededException;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.RunFailedException;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

abstract class DeadlineScenarios extends Scenarios {
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Topic<String> EARLY = Topic.of("early", String.class);
    private static final Topic<String> LATE = Topic.of("late", String.class);

    @ParameterizedTest
    @EnumSource
    void a_deadline_is_delivered_into_a_sleep_and_fails_the_run(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("sleepy", (ctx, in) -> {
                ctx.sleep(HOUR);
                return in;
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("late").timeout(Duration.ofMinutes(10)));
            assertThatThrownBy(run::result)
                    .hasMessageContaining(
                            "dev.perdure.error.DeadlineExceededException: Run 'late' has passed its deadline 2030-01-01T00:10:00Z.");
            assertThat(run.state()).isEqualTo(RunState.FAILED);
            assertThat(perdure.now()).isEqualTo("2030-01-01T00:10:00Z");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_deadline_is_delivered_into_a_back_off(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow(
                    "flaky",
                    (ctx, in) -> ctx.step(
                            "call",
                            () -> {
                                throw new IllegalStateException("no");
                            },
                            retry(RetryPolicy.standard().initialDelay(HOUR).jitter(0))));
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("late").timeout(Duration.ofMinutes(10)));
            assertThatThrownBy(run::result).hasMessageContaining("DeadlineExceededException");
            assertThat(perdure.now()).isEqualTo("2030-01-01T00:10:00Z");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_deadline_that_passed_while_nothing_waited_is_delivered_at_the_next_step(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> done = new CopyOnWriteArrayList<>();
            Definition<String, String> flow = workflow("between", (ctx, in) -> {
                ctx.step("first", () -> done.add("first"));
                ctx.sleep(HOUR);
                ctx.step("second", () -> done.add("second"));
                return in;
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("late").timeout(HOUR));
            perdure.settle();
            perdure.crashAll();
            perdure.advance(Duration.ofHours(2));
            perdure.startWorker();
            assertThatThrownBy(run::result).hasMessageContaining("DeadlineExceededException");
            assertThat(done).containsExactly("first");
        }
    }

    /** What a run waits for, with a deadline of ten minutes, while no worker is there for hours. */
    private String afterAnOutage(TestMode mode, Definition<String, String> flow, boolean message) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("late").timeout(Duration.ofMinutes(10)));
            perdure.settle();
            perdure.crashAll();
            perdure.advance(Duration.ofMinutes(5));
            if (message) {
                run.send(EARLY, "early");
            }
            perdure.advance(Duration.ofMinutes(10));
            run.send(LATE, "late");
            perdure.advance(Duration.ofHours(5));
            perdure.startWorker();
            try {
                return run.result();
            } catch (RunFailedException failed) {
                return failed.getMessage();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_deadline_that_passed_before_the_end_of_a_sleep_counts_although_no_worker_was_there(TestMode mode) {
        assertThat(afterAnOutage(
                        mode,
                        workflow("sleepy", (ctx, in) -> {
                            ctx.sleep(HOUR);
                            return in;
                        }),
                        false))
                .contains("DeadlineExceededException");
        assertThat(afterAnOutage(
                        mode,
                        workflow("short", (ctx, in) -> {
                            ctx.sleep(Duration.ofMinutes(9));
                            return in;
                        }),
                        false))
                .isEqualTo("x");
    }

    @ParameterizedTest
    @EnumSource
    void a_deadline_that_passed_before_a_timer_or_a_message_counts_although_no_worker_was_there(TestMode mode) {
        Definition<String, String> timer = workflow("timer", (ctx, in) -> {
            ctx.timer(HOUR).await();
            return in;
        });
        Definition<String, String> timers = workflow("timers", (ctx, in) -> {
            DurableFuture.all(List.of(ctx.timer(Duration.ofMinutes(9)), ctx.timer(HOUR)))
                    .await();
            return in;
        });
        Definition<String, String> late = workflow(
                "receives", (ctx, in) -> ctx.receive(LATE).orTimeout(HOUR).await());
        for (Definition<String, String> each : List.of(timer, timers, late)) {
            assertThat(afterAnOutage(mode, each, false)).as(each.name()).contains("DeadlineExceededException");
        }
    }

    @ParameterizedTest
    @EnumSource
    void what_came_before_the_deadline_counts_although_no_worker_was_there(TestMode mode) {
        Definition<String, String> early =
                workflow("receives", (ctx, in) -> ctx.receive(EARLY).await());
        Definition<String, String> first = workflow("races", (ctx, in) -> {
            DurableFuture.race(List.of(ctx.timer(Duration.ofMinutes(9)), ctx.timer(HOUR)))
                    .await();
            return "raced";
        });
        assertThat(afterAnOutage(mode, early, true)).isEqualTo("early");
        assertThat(afterAnOutage(mode, first, false)).isEqualTo("raced");
    }

    /** One wait of a run with a deadline, and an outage, all at random minutes. Each seed alone finds what it finds. */
    @ParameterizedTest
    @EnumSource
    void what_is_due_first_counts_at_random_times_around_random_outages(TestMode mode) {
        for (int seed = 1; seed <= 12; seed++) {
            Random random = new Random(seed);
            int deadline = 1 + random.nextInt(20);
            int event = 1 + random.nextInt(20);
            int from = random.nextInt(20);
            int to = from + 1 + random.nextInt(40);
            int kind = random.nextInt(3);
            Definition<String, String> flow = workflow("waits", (ctx, in) -> {
                Duration until = Duration.ofMinutes(event);
                switch (kind) {
                    case 0 -> ctx.sleep(until);
                    case 1 -> ctx.timer(until).await();
                    default -> ctx.receive(LATE).await();
                }
                return in;
            });
            try (PerdureTest perdure = create(mode)) {
                perdure.register(flow);
                Run<String> run =
                        perdure.start(Invocation.of(flow, "in time"), id("run").timeout(Duration.ofMinutes(deadline)));
                perdure.settle();
                for (int minute = 0; minute <= 60; minute++) {
                    if (minute == from) {
                        perdure.crashAll();
                    }
                    if (minute == to) {
                        perdure.startWorker();
                        perdure.settle();
                    }
                    if (minute == event && kind == 2 && !run.state().isTerminal()) {
                        run.send(LATE, "here");
                        perdure.settle();
                    }
                    perdure.advance(Duration.ofMinutes(1));
                }
                String expected = event < deadline || event == deadline && kind < 2 ? "COMPLETED" : "FAILED";
                assertThat(run.state().name())
                        .as(
                                "seed %d: deadline %d, event %d of kind %d, outage %d to %d",
                                seed, deadline, event, kind, from, to)
                        .isEqualTo(expected);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_deadline_interrupts_a_body(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> done = new CopyOnWriteArrayList<>();
            Definition<String, String> flow = workflow("stuck", (ctx, in) -> {
                try {
                    ctx.step("wait", () -> await(new CountDownLatch(1)));
                    return "?";
                } catch (DeadlineExceededException late) {
                    return ctx.step("tidy", () -> "tidied");
                }
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("late").timeout(Duration.ofMillis(50)));
            assertThat(run.result()).isEqualTo("tidied");
            assertThat(done).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_deadline_can_be_caught_is_recorded_and_the_same_on_replay(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> done = new CopyOnWriteArrayList<>();
            Definition<String, String> flow = workflow("caught", (ctx, in) -> {
                try {
                    ctx.sleep(Duration.ofDays(1));
                    return "slept";
                } catch (DeadlineExceededException late) {
                    ctx.step("undo", () -> done.add("undo"));
                    ctx.sleep(HOUR);
                    ctx.step("tell", () -> done.add("tell"));
                    return late.getMessage();
                }
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("late").timeout(HOUR));
            perdure.advance(HOUR);
            perdure.crash();
            perdure.advance(Duration.ofMinutes(30));
            perdure.crash();
            assertThat(run.result()).isEqualTo("Run 'late' has passed its deadline 2030-01-01T01:00:00Z.");
            assertThat(run.state()).isEqualTo(RunState.COMPLETED);
            assertThat(done).containsExactly("undo", "tell");
            assertThat(perdure.now()).isEqualTo("2030-01-01T02:00:00Z");
            assertThat(run.history())
                    .anySatisfy(event -> assertThat(event.text())
                            .isEqualTo("sleep of PT24H ended, because the deadline of the run passed"));
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_run_that_is_quicker_than_its_deadline_never_sees_it(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("quick", (ctx, in) -> {
                ctx.sleep(HOUR);
                return in;
            });
            perdure.register(flow);
            assertThat(perdure.start(
                                    Invocation.of(flow, "x"),
                                    StartOptions.defaults().timeout(Duration.ofHours(2)))
                            .result())
                    .isEqualTo("x");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_queued_run_gets_its_deadline_when_it_first_runs(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("waiting", (ctx, in) -> ctx.step("work", () -> in));
            perdure.register(workflow("other", (ctx, in) -> in));
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("late").timeout(HOUR));
            perdure.advance(Duration.ofHours(2));
            assertThat(run.state()).isEqualTo(RunState.READY);
            perdure.deploy(flow);
            assertThatThrownBy(run::result).hasMessageContaining("DeadlineExceededException");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_timeout_that_no_calendar_holds_is_refused(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(workflow("other", (ctx, in) -> in));
            for (Duration bad : List.of(Duration.ZERO, Duration.ofSeconds(-1), Duration.ofSeconds(Long.MAX_VALUE))) {
                assertThatThrownBy(() -> id("late").timeout(bad))
                        .isInstanceOf(InvalidRequestException.class)
                        .hasMessageContaining("The run timeout is " + bad);
            }
        }
    }
}
