package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.error.ResultUnavailableException;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

abstract class TimerScenarios extends Scenarios {
    private static Definition<Integer, Integer> sleeper(PerdureTest perdure, List<Instant> woken) {
        return Definition.of("sleeper", Integer.class, Integer.class, (ctx, minutes) -> {
            ctx.sleep(Duration.ofMinutes(minutes));
            ctx.step("woken", () -> woken.add(perdure.now()));
            return minutes;
        });
    }

    @ParameterizedTest
    @EnumSource
    void a_sleep_ends_at_its_time_and_not_before(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<Instant> woken = new CopyOnWriteArrayList<>();
            Definition<Integer, Integer> flow = sleeper(perdure, woken);
            perdure.register(flow);
            Instant begin = perdure.now();
            Run<Integer> run = perdure.start(Invocation.of(flow, 10));
            perdure.advance(Duration.ofMinutes(10).minusNanos(1_000));
            assertThat(woken).isEmpty();
            assertThat(run.state()).isEqualTo(RunState.SUSPENDED);
            assertThat(run.info().wakeAt()).contains(begin.plus(Duration.ofMinutes(10)));
            perdure.advance(Duration.ofNanos(1_000));
            assertThat(woken).containsExactly(begin.plus(Duration.ofMinutes(10)));
            assertThat(run.result()).isEqualTo(10);
        }
    }

    @ParameterizedTest
    @EnumSource
    void many_sleeps_at_once_end_each_at_its_own_time(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<Instant> woken = new CopyOnWriteArrayList<>();
            Definition<Integer, Integer> flow = sleeper(perdure, woken);
            perdure.register(flow);
            Instant begin = perdure.now();
            List<Integer> minutes = IntStream.rangeClosed(1, 50).boxed().toList();
            List<Run<Integer>> runs =
                    perdure.startAll(minutes, in -> Invocation.of(flow, in), in -> StartOptions.defaults());
            perdure.advance(Duration.ofMinutes(50));
            assertThat(woken)
                    .isEqualTo(minutes.stream()
                            .map(in -> begin.plus(Duration.ofMinutes(in)))
                            .toList());
            assertThat(runs.stream().map(Run::result)).isEqualTo(minutes);
        }
    }

    @ParameterizedTest
    @EnumSource
    void more_timers_than_fit_in_memory_all_fire(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.maxRuns(3);
            AtomicInteger woken = new AtomicInteger();
            Definition<Integer, Integer> flow = Definition.of("many", Integer.class, Integer.class, (ctx, in) -> {
                ctx.sleep(Duration.ofHours(1));
                return woken.incrementAndGet();
            });
            perdure.register(flow);
            List<Run<Integer>> runs = perdure.startAll(
                    IntStream.range(0, 100).boxed().toList(), in -> Invocation.of(flow, in), in -> id("timer-" + in));
            perdure.settle();
            assertThat(perdure.runs(RunFilter.all().state(RunState.SUSPENDED)).list())
                    .hasSize(100);
            perdure.advance(Duration.ofHours(1));
            assertThat(woken).hasValue(100);
            assertThat(runs).allSatisfy(run -> assertThat(run.state()).isEqualTo(RunState.COMPLETED));
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_sleep_keeps_its_first_deadline_through_a_kill(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<Instant> woken = new CopyOnWriteArrayList<>();
            Definition<Integer, Integer> flow = sleeper(perdure, woken);
            perdure.register(flow);
            Instant begin = perdure.now();
            Run<Integer> run = perdure.start(Invocation.of(flow, 60));
            perdure.advance(Duration.ofMinutes(40));
            perdure.crash();
            perdure.advance(Duration.ofMinutes(10));
            perdure.restart();
            assertThat(run.result()).isEqualTo(60);
            assertThat(woken).containsExactly(begin.plus(Duration.ofMinutes(60)));
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_sleep_ends_although_no_worker_was_up_at_its_time(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<Instant> woken = new CopyOnWriteArrayList<>();
            Definition<Integer, Integer> flow = sleeper(perdure, woken);
            perdure.register(flow);
            Instant begin = perdure.now();
            Run<Integer> run = perdure.start(Invocation.of(flow, 60));
            perdure.settle();
            perdure.crashAll();
            perdure.advance(Duration.ofHours(5));
            assertThat(woken).isEmpty();
            perdure.startWorker();
            assertThat(run.result()).isEqualTo(60);
            assertThat(woken).containsExactly(begin.plus(Duration.ofHours(5)));
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_sleep_of_zero_or_less_returns(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("zero", (ctx, in) -> {
                ctx.sleep(Duration.ZERO);
                ctx.step("between", () -> {});
                ctx.sleep(Duration.ofDays(-3));
                return ctx.now().toString();
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            perdure.settle();
            assertThat(run.resultNow()).contains("2030-01-01T00:00:00Z");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_sleep_that_no_calendar_holds_is_refused(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("eternal", (ctx, in) -> {
                ctx.sleep(in.equals("null") ? null : Duration.ofSeconds(Long.MAX_VALUE));
                return in;
            });
            perdure.register(flow);
            assertThatThrownBy(perdure.start(Invocation.of(flow, "long"))::result)
                    .hasMessageContaining("dev.perdure.error.InvalidRequestException")
                    .hasMessageContaining("at most");
            assertThatThrownBy(perdure.start(Invocation.of(flow, "null"))::result)
                    .hasMessageContaining("dev.perdure.error.InvalidRequestException");
        }
    }

    @ParameterizedTest
    @EnumSource
    void two_sleeps_in_a_row_and_sleeps_in_a_loop_are_found_by_their_order(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Instant begin = perdure.now();
            Definition<Integer, List<String>> flow = Definition.of(
                    "loop",
                    new dev.perdure.TypeRef<Integer>() {},
                    new dev.perdure.TypeRef<List<String>>() {},
                    (ctx, times) -> {
                        List<String> at = new ArrayList<>();
                        ctx.sleep(Duration.ofMinutes(1));
                        ctx.sleep(Duration.ofMinutes(1));
                        at.add(Duration.between(begin, ctx.now()).toString());
                        for (int i = 1; i <= times; i++) {
                            ctx.sleep(Duration.ofMinutes(i));
                            at.add(Duration.between(begin, ctx.now()).toString());
                        }
                        return at;
                    });
            perdure.register(flow);
            Run<List<String>> run = perdure.start(Invocation.of(flow, 4));
            perdure.advance(Duration.ofMinutes(3));
            perdure.crash();
            assertThat(run.result()).containsExactly("PT2M", "PT3M", "PT5M", "PT8M", "PT12M");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_sleep_in_a_branch_chosen_by_a_recorded_step_stays_in_that_branch(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicInteger checks = new AtomicInteger();
            Definition<String, String> flow = workflow("branch", (ctx, in) -> {
                // A second call would return another value.
                boolean wait = ctx.step("check", () -> checks.getAndIncrement() == 0);
                if (wait) {
                    ctx.sleep(Duration.ofSeconds(5));
                }
                ctx.sleep(Duration.ofSeconds(10));
                return ctx.now().toString();
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            perdure.advance(Duration.ofSeconds(7));
            perdure.crash();
            assertThat(run.result()).isEqualTo("2030-01-01T00:00:15Z");
            assertThat(checks).hasValue(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void thirty_days_pass_in_milliseconds(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicInteger reminders = new AtomicInteger();
            Definition<String, String> flow = workflow("trial", (ctx, in) -> {
                for (int day = 1; day <= 30; day++) {
                    ctx.sleep(Duration.ofDays(1));
                    ctx.step("remind", reminders::incrementAndGet);
                }
                return ctx.now().toString();
            });
            perdure.register(flow);
            long before = System.nanoTime();
            assertThat(perdure.start(Invocation.of(flow, "x")).result()).isEqualTo("2030-01-31T00:00:00Z");
            assertThat(reminders).hasValue(30);
            assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofSeconds(5));
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_wait_with_a_limit_ends_at_the_limit_and_the_run_goes_on(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<Integer, Integer> flow = sleeper(perdure, new CopyOnWriteArrayList<>());
            perdure.register(flow);
            Instant begin = perdure.now();
            Run<Integer> run = perdure.start(Invocation.of(flow, 60), id("slow"));
            assertThatThrownBy(() -> run.result(Duration.ofMinutes(1)))
                    .isInstanceOf(ResultUnavailableException.class)
                    .hasMessageContaining(
                            "Run 'slow' has not ended after PT1M; it is SUSPENDED: Waits until 2030-01-01T01:00:00Z.");
            assertThat(perdure.now()).isEqualTo(begin.plus(Duration.ofMinutes(1)));
            assertThat(run.result(Duration.ofDays(400_000))).isEqualTo(60);
            assertThat(run.result(Duration.ZERO)).isEqualTo(60);
        }
    }
}
