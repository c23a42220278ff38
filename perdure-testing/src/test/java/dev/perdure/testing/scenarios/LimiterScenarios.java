package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static dev.perdure.StepOptions.limit;
import static dev.perdure.StepOptions.retry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.DurableFuture;
import dev.perdure.Invocation;
import dev.perdure.RetryPolicy;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.error.DeadlineExceededException;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.UnknownLimiterException;
import dev.perdure.queue.Limiter;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Limiters of steps. */
abstract class LimiterScenarios extends Scenarios {
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final Limiter STRIPE = Limiter.named("stripe");

    /** How many step bodies are at work at once, and how many were at most. */
    private static final class Gauge {
        private final AtomicInteger now = new AtomicInteger();
        private final AtomicInteger most = new AtomicInteger();
        private final AtomicInteger all = new AtomicInteger();

        String in(String input) {
            all.incrementAndGet();
            most.accumulateAndGet(now.incrementAndGet(), Math::max);
            Thread.yield();
            now.decrementAndGet();
            return input;
        }
    }

    private static List<Run<String>> startAll(PerdureTest perdure, Definition<String, String> workflow, int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> perdure.start(Invocation.of(workflow, "r" + i), id("r" + i)))
                .toList();
    }

    private static void assertApart(List<Instant> times, Duration period) {
        List<Instant> sorted = times.stream().sorted().toList();
        for (int i = 1; i < sorted.size(); i++) {
            assertThat(Duration.between(sorted.get(i - 1), sorted.get(i))).isGreaterThanOrEqualTo(period);
        }
    }

    @ParameterizedTest
    @EnumSource
    void no_more_steps_are_at_work_at_once_than_the_limiter_allows(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Gauge gauge = new Gauge();
            Limiter two = STRIPE.concurrency(2);
            Definition<String, String> pay = workflow("pay", (ctx, in) -> {
                ctx.step("first", () -> gauge.in(in), limit(two));
                return ctx.step("second", () -> gauge.in(in), limit(two));
            });
            perdure.register(pay).limiters(two);
            List<Run<String>> runs = startAll(perdure, pay, 10);

            runs.forEach(run -> assertThat(run.result()).isEqualTo(run.id().value()));
            assertThat(gauge.most.get()).isBetween(1, 2);
            assertThat(gauge.all).hasValue(20);
            assertThat(perdure.limiters().get("stripe").waiting()).isZero();
            assertThat(perdure.limiters().get("stripe").held()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource
    void steps_of_all_workflows_share_the_rate(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<Instant> begun = new CopyOnWriteArrayList<>();
            Limiter slow = STRIPE.rate(1, MINUTE);
            Definition<String, String> pay = workflow(
                    "pay", (ctx, in) -> ctx.step("pay", () -> String.valueOf(begun.add(perdure.now())), limit(slow)));
            Definition<String, String> refund = workflow(
                    "refund",
                    (ctx, in) -> ctx.step("refund", () -> String.valueOf(begun.add(perdure.now())), limit(slow)));
            perdure.register(pay, refund).limiters(slow);
            List<Run<String>> runs = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                runs.add(perdure.start(Invocation.of(pay, "x"), id("pay" + i)));
                runs.add(perdure.start(Invocation.of(refund, "x"), id("refund" + i)));
            }
            perdure.advance(MINUTE.multipliedBy(7));

            assertThat(runs).allMatch(run -> run.state() == RunState.COMPLETED);
            assertThat(begun).hasSize(6);
            assertApart(begun, MINUTE);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_run_that_waits_for_its_turn_leaves_memory_and_says_why(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Limiter slow = STRIPE.rate(1, HOUR);
            Definition<String, String> pay = workflow("pay", (ctx, in) -> ctx.step("pay", () -> in, limit(slow)));
            perdure.register(pay).limiters(slow);
            Run<String> first = perdure.start(Invocation.of(pay, "a"), id("a"));
            assertThat(first.result()).isEqualTo("a");
            Run<String> second = perdure.start(Invocation.of(pay, "b"), id("b"));
            perdure.advance(MINUTE);

            assertThat(second.state()).isEqualTo(RunState.SUSPENDED);
            assertThat(second.info().awaited()).containsExactly("permit of limiter 'stripe'");
            assertThat(second.info().reason().orElseThrow())
                    .startsWith("The rate of the limiter 'stripe' allows no more before 2030-01-01T01:00:");
            perdure.advance(HOUR);
            assertThat(second.state()).isEqualTo(RunState.COMPLETED);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_run_that_is_cancelled_or_killed_while_it_waits_gives_up_its_place(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> begun = new CopyOnWriteArrayList<>();
            Limiter slow = STRIPE.rate(1, HOUR);
            Definition<String, String> pay =
                    workflow("pay", (ctx, in) -> ctx.step("pay", () -> String.valueOf(begun.add(in)), limit(slow)));
            perdure.register(pay).limiters(slow);
            List<Run<String>> runs = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                runs.add(perdure.start(Invocation.of(pay, "r" + i), id("r" + i)));
                perdure.advance(Duration.ofSeconds(5));
            }
            runs.get(1).cancel("no longer needed");
            runs.get(2).kill("no longer needed");
            perdure.advance(HOUR.plus(MINUTE)); // a rate counts in parts of its period

            assertThat(runs)
                    .extracting(Run::state)
                    .containsExactly(RunState.COMPLETED, RunState.CANCELLED, RunState.CANCELLED, RunState.COMPLETED);
            assertThat(begun).containsExactly("r0", "r3");
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_deadline_ends_the_wait_for_a_permit(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Limiter slow = STRIPE.rate(1, HOUR);
            Definition<String, String> pay = workflow("pay", (ctx, in) -> {
                try {
                    return ctx.step("pay", () -> in, limit(slow));
                } catch (DeadlineExceededException late) {
                    return "too late";
                }
            });
            perdure.register(pay).limiters(slow);
            assertThat(perdure.start(Invocation.of(pay, "a"), id("a")).result()).isEqualTo("a");
            Run<String> second = perdure.start(Invocation.of(pay, "b"), id("b").timeout(MINUTE));
            perdure.advance(MINUTE.multipliedBy(2));

            assertThat(second.result()).isEqualTo("too late");
        }
    }

    @ParameterizedTest
    @EnumSource
    void every_attempt_takes_a_permit_of_its_own(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<Instant> begun = new CopyOnWriteArrayList<>();
            Limiter slow = STRIPE.rate(1, MINUTE);
            Definition<String, String> pay = workflow(
                    "pay",
                    (ctx, in) -> ctx.step(
                            "pay",
                            () -> {
                                begun.add(perdure.now());
                                if (ctx.attempt().number() < 3) {
                                    throw new IllegalStateException("busy");
                                }
                                return in;
                            },
                            retry(RetryPolicy.standard().initialDelay(Duration.ofSeconds(5)))
                                    .limitedBy(slow)));
            perdure.register(pay).limiters(slow);
            Run<String> run = perdure.start(Invocation.of(pay, "a"), id("a"));
            perdure.advance(MINUTE.multipliedBy(5));

            assertThat(run.result()).isEqualTo("a");
            assertThat(begun).hasSize(3);
            assertApart(begun, MINUTE);
        }
    }

    @ParameterizedTest
    @EnumSource
    void parallel_steps_of_a_run_take_turns_and_those_that_are_not_awaited_run_too(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Gauge gauge = new Gauge();
            Limiter one = STRIPE.concurrency(1);
            Definition<String, String> pay = workflow("pay", (ctx, in) -> {
                List<DurableFuture<String>> steps = new ArrayList<>();
                for (int i = 0; i < 4; i++) {
                    steps.add(ctx.stepAsync("awaited" + i, () -> gauge.in(in), limit(one)));
                }
                for (int i = 0; i < 3; i++) {
                    ctx.stepAsync("left" + i, () -> gauge.in(in), limit(one));
                }
                return String.join(" ", DurableFuture.all(steps).await());
            });
            perdure.register(pay).limiters(one);
            Run<String> first = perdure.start(Invocation.of(pay, "a"), id("a"));
            Run<String> second = perdure.start(Invocation.of(pay, "b"), id("b"));

            assertThat(first.result()).isEqualTo("a a a a");
            assertThat(second.result()).isEqualTo("b b b b");
            assertThat(gauge.most).hasValue(1);
            assertThat(gauge.all).hasValue(14);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_step_may_wait_behind_a_parallel_step_of_its_own_run(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Gauge gauge = new Gauge();
            Limiter one = STRIPE.concurrency(1).rate(1, MINUTE);
            Definition<String, String> pay = workflow("pay", (ctx, in) -> {
                DurableFuture<String> beside = ctx.stepAsync("beside", () -> gauge.in(in), limit(one));
                String own = ctx.step("own", () -> gauge.in(in), limit(one));
                return own + beside.await();
            });
            perdure.register(pay).limiters(one);
            List<Run<String>> runs = startAll(perdure, pay, 3);
            perdure.advance(MINUTE.multipliedBy(10));

            assertThat(runs).allMatch(run -> run.state() == RunState.COMPLETED);
            assertThat(gauge.most).hasValue(1);
            assertThat(gauge.all).hasValue(6);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_crash_while_a_step_holds_a_permit_gives_it_back(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Gauge gauge = new Gauge();
            Limiter one = STRIPE.concurrency(1);
            Definition<String, String> pay = workflow("pay", (ctx, in) -> {
                ctx.step("before", () -> in);
                return ctx.step("pay", () -> gauge.in(in), limit(one));
            });
            perdure.register(pay).limiters(one);
            perdure.crashBeforeCommit(3);
            List<Run<String>> runs = startAll(perdure, pay, 5);
            perdure.advance(HOUR);

            runs.forEach(run -> assertThat(run.result()).isEqualTo(run.id().value()));
            assertThat(gauge.all.get()).isBetween(5, 6);
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_operator_pauses_changes_and_resets_a_limiter(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Limiter slow = STRIPE.rate(1, HOUR);
            Definition<String, String> pay = workflow("pay", (ctx, in) -> ctx.step("pay", () -> in, limit(slow)));
            perdure.register(pay).limiters(slow);
            perdure.limiters().pause("stripe", "the provider is down");
            List<Run<String>> runs = startAll(perdure, pay, 3);
            perdure.advance(MINUTE);
            assertThat(runs).allMatch(run -> run.state() == RunState.SUSPENDED);
            assertThat(runs.getFirst().info().reason())
                    .contains("The limiter 'stripe' is paused: the provider is down");
            assertThat(perdure.limiters().list()).singleElement().satisfies(info -> {
                assertThat(info.waiting()).isEqualTo(3);
                assertThat(info.limits().rate().orElseThrow().most()).isEqualTo(1);
            });

            perdure.limiters().resume("stripe");
            perdure.advance(MINUTE);
            assertThat(runs)
                    .filteredOn(run -> run.state() == RunState.COMPLETED)
                    .hasSize(1);
            perdure.limiters().limit(STRIPE.rate(Limiter.UNLIMITED, HOUR));
            perdure.advance(MINUTE);
            assertThat(runs).allMatch(run -> run.state() == RunState.COMPLETED);
            perdure.limiters().reset("stripe");
            assertThat(perdure.limiters().get("stripe").limits()).isEqualTo(slow);
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_first_step_that_names_a_limiter_declares_it(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> pay =
                    workflow("pay", (ctx, in) -> ctx.step("pay", () -> in, limit(STRIPE.concurrency(1))));
            perdure.register(pay);

            assertThat(perdure.start(Invocation.of(pay, "a"), id("a")).result()).isEqualTo("a");
            assertThat(perdure.limiters().get("stripe").declared()).isEqualTo(STRIPE.concurrency(1));
        }
    }

    @Test
    void bad_input_is_refused_with_a_message_that_helps() {
        try (PerdureTest perdure = create(TestMode.NORMAL)) {
            assertThatThrownBy(() -> STRIPE.concurrency(0))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessage(
                            "concurrency of the limiter 'stripe' is 0; it is at least 1. To let nothing begin, pause the limiter.");
            assertThatThrownBy(() -> STRIPE.rate(1, Duration.ZERO))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessage(
                            "The period of the rate of the limiter 'stripe' is PT0S; it is at least a millisecond and at most 366 days.");
            assertThatThrownBy(() -> Limiter.named("")).isInstanceOf(InvalidRequestException.class);
            assertThatThrownBy(() -> perdure.limiters().pause("nowhere", "x"))
                    .isInstanceOf(UnknownLimiterException.class)
                    .hasMessage(
                            "There is no limiter 'nowhere'. Check the name, or declare the limiter when you set up the engine.");
        }
    }
}
