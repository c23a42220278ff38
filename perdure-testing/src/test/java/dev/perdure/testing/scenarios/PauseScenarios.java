package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static dev.perdure.StepOptions.retry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.RetryPolicy;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.Topic;
import dev.perdure.TypeRef;
import dev.perdure.error.ResultUnavailableException;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

abstract class PauseScenarios extends Scenarios {
    private static final Duration HOUR = Duration.ofHours(1);

    private static Definition<String, String> sleepy(AtomicInteger bodies) {
        return workflow("sleepy", (ctx, in) -> {
            ctx.step("first", bodies::incrementAndGet);
            ctx.sleep(HOUR);
            ctx.step("second", bodies::incrementAndGet);
            return in;
        });
    }

    @ParameterizedTest
    @EnumSource
    void a_sleeping_run_can_be_paused_and_resumes_from_its_journal(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicInteger bodies = new AtomicInteger();
            Definition<String, String> flow = sleepy(bodies);
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("p"));
            perdure.settle();
            run.pause("hold on");
            assertThat(run.state()).isEqualTo(RunState.PAUSED);
            assertThat(run.info().reason()).contains("hold on");
            perdure.advance(Duration.ofDays(1));
            assertThat(run.state()).isEqualTo(RunState.PAUSED);
            assertThat(bodies).hasValue(1);
            run.resume();
            assertThat(run.result()).isEqualTo("x");
            assertThat(run.info().reason()).isEmpty();
            assertThat(bodies).hasValue(2);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_run_resumed_before_its_sleep_is_over_sleeps_on(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = sleepy(new AtomicInteger());
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            perdure.advance(Duration.ofMinutes(10));
            run.pause("a moment");
            perdure.advance(Duration.ofMinutes(10));
            run.resume();
            perdure.settle();
            assertThat(run.state()).isEqualTo(RunState.SUSPENDED);
            assertThat(run.result()).isEqualTo("x");
            assertThat(perdure.now()).isEqualTo("2030-01-01T01:00:00Z");
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_waiter_of_a_paused_run_keeps_waiting(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = sleepy(new AtomicInteger());
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("p"));
            perdure.settle();
            run.pause("hold on");
            assertThatThrownBy(() -> run.result(Duration.ofDays(1)))
                    .isInstanceOf(ResultUnavailableException.class)
                    .hasMessage(
                            "Run 'p' has not ended after PT24H; it is PAUSED: hold on. It continues only when it is resumed:"
                                    + " './perdure runs resume p' or Run.resume().");
            assertThatThrownBy(() -> run.awaitPublished(Topic.of("any", String.class), Duration.ofDays(1)))
                    .isInstanceOf(ResultUnavailableException.class)
                    .hasMessage(
                            "Run 'p' has not published 'any' after PT24H; it is PAUSED: hold on. It continues only when it"
                                    + " is resumed: './perdure runs resume p' or Run.resume().");
            assertThat(run.resultNow()).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_body_finishes_before_its_run_is_paused(TestMode mode) throws Exception {
        try (PerdureTest perdure = create(mode)) {
            CountDownLatch inBody = new CountDownLatch(1);
            CountDownLatch goOn = new CountDownLatch(1);
            List<String> done = new CopyOnWriteArrayList<>();
            Definition<String, String> flow = workflow("busy", (ctx, in) -> {
                ctx.step("work", () -> {
                    inBody.countDown();
                    await(goOn);
                    done.add("work");
                });
                ctx.sleep(HOUR); // the run notices the pause here at the latest
                ctx.step("more", () -> done.add("more"));
                return in;
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            await(inBody);
            run.pause("hold on");
            assertThat(run.state()).isEqualTo(RunState.RUNNING);
            goOn.countDown();
            perdure.settle();
            assertThat(run.state()).isEqualTo(RunState.PAUSED);
            assertThat(done).containsExactly("work");
            run.resume();
            assertThat(run.result()).isEqualTo("x");
            assertThat(done).containsExactly("work", "more");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_pause_taken_back_in_time_has_no_effect(TestMode mode) throws Exception {
        try (PerdureTest perdure = create(mode)) {
            CountDownLatch inBody = new CountDownLatch(1);
            CountDownLatch goOn = new CountDownLatch(1);
            Definition<String, String> flow = workflow("busy", (ctx, in) -> {
                ctx.step("work", () -> {
                    inBody.countDown();
                    await(goOn);
                });
                return ctx.step("more", () -> in);
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("p"));
            await(inBody);
            run.pause("hold on");
            run.resume();
            goOn.countDown();
            assertThat(run.result()).isEqualTo("x");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_run_that_backs_off_can_be_paused(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicInteger bodies = new AtomicInteger();
            Definition<String, String> flow = workflow(
                    "flaky",
                    (ctx, in) -> ctx.step(
                            "call",
                            () -> {
                                if (bodies.incrementAndGet() == 1) {
                                    throw new IllegalStateException("no");
                                }
                                return "attempt " + ctx.attempt().number();
                            },
                            retry(RetryPolicy.standard().initialDelay(HOUR).jitter(0))));
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            perdure.settle();
            run.pause("hold on");
            perdure.advance(Duration.ofHours(2));
            assertThat(bodies).hasValue(1);
            run.resume();
            assertThat(run.result()).isEqualTo("attempt 2");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_queued_run_can_be_paused_and_is_not_taken(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = sleepy(new AtomicInteger());
            perdure.register(workflow("other", (ctx, in) -> in));
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            run.pause("not yet");
            perdure.deploy(flow);
            perdure.advance(Duration.ofDays(1));
            assertThat(run.state()).isEqualTo(RunState.PAUSED);
            run.resume();
            assertThat(run.result()).isEqualTo("x");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_paused_run_can_be_cancelled_and_compensates_when_resumed(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = sleepy(new AtomicInteger());
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("p"));
            perdure.settle();
            run.pause("hold on");
            run.cancel("no longer");
            assertThat(run.state()).isEqualTo(RunState.PAUSED);
            run.resume();
            assertThatThrownBy(run::result).hasMessage("Run 'p' is CANCELLED: no longer");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_paused_run_that_never_ran_is_cancelled_at_once(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(workflow("other", (ctx, in) -> in));
            Run<String> run = perdure.start(Invocation.of("nobody-has-it", "x", TypeRef.of(String.class)), id("p"));
            run.pause("not yet");
            run.cancel("never");
            assertThat(run.state()).isEqualTo(RunState.CANCELLED);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_pause_survives_the_death_of_the_worker(TestMode mode) throws Exception {
        try (PerdureTest perdure = create(mode)) {
            CountDownLatch inBody = new CountDownLatch(1);
            AtomicInteger bodies = new AtomicInteger();
            Definition<String, String> flow = workflow(
                    "busy",
                    (ctx, in) -> ctx.step("work", () -> {
                        if (bodies.incrementAndGet() == 1) {
                            inBody.countDown();
                            await(new CountDownLatch(1));
                        }
                        return "body " + bodies.get();
                    }));
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            await(inBody);
            run.pause("hold on");
            perdure.crashAll();
            perdure.startWorker();
            perdure.settle();
            assertThat(run.state()).isEqualTo(RunState.PAUSED);
            assertThat(run.info().reason()).contains("hold on");
            run.resume();
            assertThat(run.result()).isEqualTo("body 2");
        }
    }
}
