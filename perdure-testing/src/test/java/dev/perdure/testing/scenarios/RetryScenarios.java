package dev.perdure.testing.scenarios;

import static dev.perdure.StepOptions.retry;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.RetryPolicy;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.StepAction;
import dev.perdure.error.RecordedException;
import dev.perdure.error.StepFailedException;
import dev.perdure.error.TerminalException;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

abstract class RetryScenarios extends Scenarios {
    private static RetryPolicy exactly(Duration first, double factor, Duration cap) {
        return RetryPolicy.standard()
                .initialDelay(first)
                .factor(factor)
                .maxDelay(cap)
                .jitter(0);
    }

    @ParameterizedTest
    @EnumSource
    void transient_failures_are_retried_and_the_back_off_grows_to_its_cap(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<Long> seconds = new CopyOnWriteArrayList<>();
            Instant begin = perdure.now();
            RetryPolicy policy = exactly(Duration.ofSeconds(1), 3, Duration.ofSeconds(5));
            Definition<String, String> flow = workflow(
                    "flaky",
                    (ctx, in) -> ctx.step(
                            "call",
                            () -> {
                                seconds.add(
                                        Duration.between(begin, perdure.now()).toSeconds());
                                if (ctx.attempt().number() < 5) {
                                    throw new IllegalStateException("not yet");
                                }
                                return "done by attempt " + ctx.attempt().number();
                            },
                            retry(policy)));
            perdure.register(flow);
            assertThat(perdure.start(Invocation.of(flow, "x")).result()).isEqualTo("done by attempt 5");
            assertThat(seconds).containsExactly(0L, 1L, 4L, 9L, 14L);
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_engine_wide_policy_holds_for_steps_that_name_none(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.retry(RetryPolicy.none());
            AtomicInteger bodies = new AtomicInteger();
            Definition<String, String> flow = workflow("once", (ctx, in) -> {
                try {
                    ctx.step("call", (StepAction) () -> {
                        bodies.incrementAndGet();
                        throw new IllegalStateException("no");
                    });
                    return "?";
                } catch (StepFailedException failed) {
                    return "attempts " + failed.attempts();
                }
            });
            perdure.register(flow);
            assertThat(perdure.start(Invocation.of(flow, "x")).result()).isEqualTo("attempts 1");
            assertThat(bodies).hasValue(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_step_out_of_attempts_throws_the_same_on_every_replay(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Set<String> seen = ConcurrentHashMap.newKeySet();
            AtomicInteger bodies = new AtomicInteger();
            AtomicInteger entered = new AtomicInteger();
            Definition<String, String> flow = workflow("hopeless", (ctx, in) -> {
                entered.incrementAndGet();
                String caught = "nothing";
                try {
                    ctx.step(
                            "call",
                            (StepAction) () -> {
                                throw new IllegalArgumentException(
                                        "number " + bodies.incrementAndGet(), new java.io.IOException("root"));
                            },
                            retry(exactly(Duration.ofMillis(10), 1, Duration.ofMillis(10))
                                    .attempts(3)));
                } catch (StepFailedException failed) {
                    RecordedException cause = (RecordedException) failed.getCause();
                    caught = failed.step() + "|" + failed.attempts() + "|" + failed.errorType() + "|"
                            + cause.getMessage()
                            + "|" + cause.getCause() + "|" + (cause.getStackTrace().length > 0) + "|"
                            + failed.getMessage();
                }
                seen.add(caught);
                ctx.sleep(Duration.ofHours(1));
                seen.add(caught);
                return caught;
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            perdure.advance(Duration.ofMinutes(1));
            perdure.crash();
            assertThat(run.result())
                    .isEqualTo("call|3|java.lang.IllegalArgumentException|number 3|java.io.IOException: root|true|"
                            + "Step 'call' failed after 3 attempts: java.lang.IllegalArgumentException: number 3");
            assertThat(seen).hasSize(1);
            assertThat(bodies).hasValue(3);
            assertThat(entered.get()).isGreaterThan(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_attempt_count_survives_the_death_of_the_process(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<Integer> numbers = new CopyOnWriteArrayList<>();
            Set<String> keys = ConcurrentHashMap.newKeySet();
            RetryPolicy policy =
                    exactly(Duration.ofMinutes(1), 1, Duration.ofMinutes(1)).attempts(4);
            Definition<String, String> flow = workflow("count", (ctx, in) -> {
                try {
                    ctx.step(
                            "call",
                            (StepAction) () -> {
                                numbers.add(ctx.attempt().number());
                                keys.add(ctx.attempt().idempotencyKey());
                                throw new IllegalStateException("no");
                            },
                            retry(policy));
                    return "?";
                } catch (StepFailedException failed) {
                    return "gave up after " + failed.attempts();
                }
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            for (int i = 0; i < 4; i++) {
                perdure.settle();
                perdure.crash();
                perdure.advance(Duration.ofMinutes(1));
            }
            assertThat(run.result()).isEqualTo("gave up after 4");
            assertThat(numbers).containsExactly(1, 2, 3, 4);
            assertThat(keys).hasSize(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_crash_in_a_body_repeats_the_same_attempt(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<Integer> numbers = new CopyOnWriteArrayList<>();
            AtomicBoolean crashed = new AtomicBoolean();
            Definition<String, String> flow = workflow(
                    "die",
                    (ctx, in) -> ctx.step("call", () -> {
                        numbers.add(ctx.attempt().number());
                        if (crashed.compareAndSet(false, true)) {
                            perdure.crashBeforeNextCommit();
                        }
                        return "ok";
                    }));
            perdure.register(flow);
            assertThat(perdure.start(Invocation.of(flow, "x")).result()).isEqualTo("ok");
            assertThat(numbers).containsExactly(1, 1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_long_back_off_leaves_memory_and_shows_when_it_goes_on(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            RetryPolicy policy = exactly(Duration.ofHours(1), 1, Duration.ofHours(1));
            Definition<String, String> flow = workflow(
                    "back",
                    (ctx, in) -> ctx.step(
                            "call",
                            () -> {
                                if (ctx.attempt().number() == 1) {
                                    throw new IllegalStateException("later");
                                }
                                return in;
                            },
                            retry(policy)));
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            perdure.settle();
            assertThat(run.state()).isEqualTo(RunState.BACKING_OFF);
            assertThat(run.info().wakeAt()).contains(perdure.now().plus(Duration.ofHours(1)));
            assertThat(run.result()).isEqualTo("x");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_terminal_exception_stops_at_once(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            assertThat(attemptsUntilGivenUp(perdure, RetryPolicy.standard(), new TerminalException("final")))
                    .isEqualTo("1 dev.perdure.error.TerminalException");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_listed_exception_and_its_subclasses_stop_at_once(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            RetryPolicy policy = RetryPolicy.standard().nonRetryable(IllegalArgumentException.class);
            assertThat(attemptsUntilGivenUp(perdure, policy, new NumberFormatException("no number")))
                    .isEqualTo("1 java.lang.NumberFormatException");
        }
    }

    @ParameterizedTest
    @EnumSource
    void another_exception_than_the_listed_is_retried(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            RetryPolicy policy = RetryPolicy.standard().attempts(2).nonRetryable(IllegalArgumentException.class);
            assertThat(attemptsUntilGivenUp(perdure, policy, new IllegalStateException("other")))
                    .isEqualTo("2 java.lang.IllegalStateException");
        }
    }

    private static String attemptsUntilGivenUp(PerdureTest perdure, RetryPolicy policy, RuntimeException thrown) {
        Definition<String, String> flow = workflow("try", (ctx, in) -> {
            try {
                ctx.step(
                        "call",
                        (StepAction) () -> {
                            throw thrown;
                        },
                        retry(policy));
                return "?";
            } catch (StepFailedException failed) {
                return failed.attempts() + " " + failed.errorType();
            }
        });
        perdure.register(flow);
        return perdure.start(Invocation.of(flow, "x")).result();
    }

    @ParameterizedTest
    @EnumSource
    void a_step_may_set_its_own_next_delay(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<Instant> times = new CopyOnWriteArrayList<>();
            Definition<String, String> flow = workflow(
                    "polite",
                    (ctx, in) -> ctx.step("call", () -> {
                        times.add(perdure.now());
                        if (ctx.attempt().number() == 1) {
                            ctx.attempt().retryAfter(Duration.ofDays(2));
                            throw new IllegalStateException("429");
                        }
                        return in;
                    }));
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            perdure.settle();
            perdure.crash();
            assertThat(run.result()).isEqualTo("x");
            assertThat(Duration.between(times.getFirst(), times.getLast())).isEqualTo(Duration.ofDays(2));
        }
    }

    @ParameterizedTest
    @EnumSource
    void no_attempt_starts_after_the_total_time(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<Instant> times = new CopyOnWriteArrayList<>();
            RetryPolicy policy = exactly(Duration.ofMinutes(4), 1, Duration.ofMinutes(4))
                    .attempts(100)
                    .totalTime(Duration.ofMinutes(10));
            Definition<String, String> flow = workflow("patient", (ctx, in) -> {
                try {
                    ctx.step(
                            "call",
                            (StepAction) () -> {
                                times.add(perdure.now());
                                throw new IllegalStateException("no");
                            },
                            retry(policy));
                    return "?";
                } catch (StepFailedException failed) {
                    return "gave up after " + failed.attempts();
                }
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            perdure.advance(Duration.ofMinutes(5));
            perdure.crash();
            assertThat(run.result()).isEqualTo("gave up after 3");
            assertThat(Duration.between(times.getFirst(), times.getLast())).isEqualTo(Duration.ofMinutes(8));
        }
    }
}
