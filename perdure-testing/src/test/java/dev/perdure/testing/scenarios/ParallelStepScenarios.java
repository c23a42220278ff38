package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static dev.perdure.StepOptions.retry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.DurableFuture;
import dev.perdure.HistoryEvent;
import dev.perdure.Invocation;
import dev.perdure.RetryPolicy;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.error.StepFailedException;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Steps that run in parallel with the run's own thread. */
abstract class ParallelStepScenarios extends Scenarios {
    private static final Duration HOUR = Duration.ofHours(1);

    @ParameterizedTest
    @EnumSource
    void bodies_really_run_at_once_and_each_is_recorded_once(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Map<String, Integer> bodies = new ConcurrentHashMap<>();
            CountDownLatch together = new CountDownLatch(3);
            Definition<String, String> flow = workflow("parallel", (ctx, in) -> {
                List<DurableFuture<String>> steps = new ArrayList<>();
                for (String name : List.of("a", "b", "c")) {
                    steps.add(ctx.stepAsync(name, () -> {
                        bodies.merge(name, 1, Integer::sum);
                        together.countDown();
                        await(together);
                        return name + ctx.attempt().number();
                    }));
                }
                String all = String.join(" ", DurableFuture.all(steps).await());
                ctx.sleep(HOUR);
                return all;
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            perdure.advance(Duration.ofMinutes(1));
            perdure.crash();
            assertThat(run.result()).isEqualTo("a1 b1 c1");
            assertThat(bodies).isEqualTo(Map.of("a", 1, "b", 1, "c", 1));
        }
    }

    @ParameterizedTest
    @EnumSource
    void at_most_a_hundred_bodies_of_a_run_are_at_work_and_all_get_their_turn(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicInteger atWork = new AtomicInteger();
            AtomicInteger most = new AtomicInteger();
            AtomicInteger done = new AtomicInteger();
            CountDownLatch full = new CountDownLatch(100);
            Definition<String, String> flow = workflow("crowd", (ctx, in) -> {
                List<DurableFuture<Void>> steps = new ArrayList<>();
                for (int i = 0; i < 130; i++) {
                    steps.add(ctx.stepAsync("step", () -> {
                        most.accumulateAndGet(atWork.incrementAndGet(), Math::max);
                        full.countDown();
                        await(full);
                        atWork.decrementAndGet();
                        done.incrementAndGet();
                    }));
                }
                if (in.equals("await")) {
                    DurableFuture.all(steps).await();
                }
                return "done";
            });
            perdure.register(flow);
            assertThat(perdure.start(Invocation.of(flow, "await")).result()).isEqualTo("done");
            assertThat(most).hasValue(100);
            assertThat(done).hasValue(130);
            // Steps that the workflow does not await run too.
            assertThat(perdure.start(Invocation.of(flow, "leave")).result()).isEqualTo("done");
            assertThat(most).hasValue(100);
            assertThat(done).hasValue(260);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_list_is_worked_off_so_many_at_a_time(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicInteger atWork = new AtomicInteger();
            AtomicInteger most = new AtomicInteger();
            AtomicInteger bodies = new AtomicInteger();
            CountDownLatch full = new CountDownLatch(3);
            Definition<String, String> flow = workflow(
                    "bounded",
                    (ctx, in) -> ""
                            + DurableFuture.parallel(
                                            IntStream.range(0, 20).boxed().toList(),
                                            3,
                                            number -> ctx.stepAsync("square", () -> {
                                                most.accumulateAndGet(atWork.incrementAndGet(), Math::max);
                                                full.countDown();
                                                await(full);
                                                bodies.incrementAndGet();
                                                atWork.decrementAndGet();
                                                return number * number;
                                            }))
                                    .stream()
                                    .mapToInt(Integer::intValue)
                                    .sum());
            perdure.register(flow);
            assertThat(perdure.start(Invocation.of(flow, "x")).result()).isEqualTo("2470");
            assertThat(most).hasValue(3);
            assertThat(bodies).hasValue(20);
        }
    }

    @ParameterizedTest
    @EnumSource
    void after_the_first_failure_of_a_list_nothing_more_is_begun(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<Integer> begun = new CopyOnWriteArrayList<>();
            Definition<String, String> flow = workflow("failing list", (ctx, in) -> {
                try {
                    return ""
                            + DurableFuture.parallel(
                                    List.of(1, 2, 3, 4, 5),
                                    1,
                                    number -> ctx.stepAsync(
                                            "work",
                                            () -> {
                                                begun.add(number);
                                                if (number == 3) {
                                                    throw new IllegalStateException("three");
                                                }
                                                return number;
                                            },
                                            retry(1)));
                } catch (StepFailedException failed) {
                    ctx.sleep(HOUR);
                    return failed.getMessage();
                }
            });
            perdure.register(flow);
            assertThat(perdure.start(Invocation.of(flow, "x")).result())
                    .isEqualTo("Step 'work' failed after 1 attempt: java.lang.IllegalStateException: three");
            assertThat(begun).containsExactly(1, 2, 3);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_step_that_is_not_awaited_is_recorded_before_the_run_ends(TestMode mode) throws Exception {
        try (PerdureTest perdure = create(mode)) {
            CountDownLatch inBody = new CountDownLatch(1);
            CountDownLatch release = new CountDownLatch(1);
            AtomicInteger bodies = new AtomicInteger();
            Definition<String, String> flow = workflow("left", (ctx, in) -> {
                ctx.stepAsync("left alone", () -> {
                    bodies.incrementAndGet();
                    inBody.countDown();
                    await(release);
                });
                if (in.equals("throw")) {
                    throw new IllegalStateException("over");
                }
                return "over";
            });
            perdure.register(flow);
            Run<String> returned = perdure.start(Invocation.of(flow, "return"), id("return"));
            Run<String> thrown = perdure.start(Invocation.of(flow, "throw"), id("throw"));
            await(inBody);
            assertThat(returned.state()).isEqualTo(RunState.RUNNING);
            release.countDown();
            assertThat(returned.result()).isEqualTo("over");
            assertThatThrownBy(thrown::result).hasMessageContaining("over");
            for (Run<String> run : List.of(returned, thrown)) {
                assertThat(journal(run)).containsExactly("step 'left alone' completed");
            }
            assertThat(bodies).hasValue(2);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_body_at_work_keeps_its_run_in_memory_whatever_that_waits_for(TestMode mode) throws Exception {
        try (PerdureTest perdure = create(mode)) {
            CountDownLatch inBodies = new CountDownLatch(2);
            CountDownLatch release = new CountDownLatch(1);
            AtomicInteger bodies = new AtomicInteger();
            Definition<String, String> flow = workflow("kept", (ctx, in) -> {
                DurableFuture<?> body = ctx.stepAsync("slow", () -> {
                    bodies.incrementAndGet();
                    inBodies.countDown();
                    await(release);
                });
                switch (in) {
                    case "sleep" -> ctx.sleep(HOUR);
                    default -> {
                        int first = DurableFuture.any(body, ctx.timer(HOUR)).await();
                        assertThat(first).isZero();
                    }
                }
                body.await();
                ctx.sleep(HOUR);
                return ctx.now().toString();
            });
            perdure.register(flow);
            Run<String> sleeper = perdure.start(Invocation.of(flow, "sleep"), id("sleeper"));
            Run<String> chooser = perdure.start(Invocation.of(flow, "any"), id("chooser"));
            await(inBodies);
            // The run has reached its wait, and is still in memory.
            until(() -> journal(sleeper).contains("sleep of PT1H began"));
            until(() -> journal(chooser).contains("timer of PT1H began"));
            assertThat(sleeper.state()).isEqualTo(RunState.RUNNING);
            assertThat(chooser.state()).isEqualTo(RunState.RUNNING);
            release.countDown();
            perdure.settle();
            // When its body has ended, it leaves memory.
            assertThat(sleeper.state()).isEqualTo(RunState.SUSPENDED);
            assertThat(chooser.state()).isEqualTo(RunState.SUSPENDED);
            assertThat(sleeper.result()).isEqualTo("2030-01-01T02:00:00Z");
            assertThat(chooser.result()).isEqualTo("2030-01-01T01:00:00Z");
            assertThat(bodies).hasValue(2);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_step_on_the_runs_own_thread_leaves_bodies_beside_it_alone(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            CountDownLatch release = new CountDownLatch(1);
            AtomicInteger bodies = new AtomicInteger();
            Definition<String, String> flow = workflow("beside", (ctx, in) -> {
                DurableFuture<String> beside = ctx.stepAsync("beside", () -> {
                    bodies.incrementAndGet();
                    await(release);
                    return "beside";
                });
                ctx.step("own", release::countDown);
                return beside.await();
            });
            perdure.register(flow);
            assertThat(perdure.start(Invocation.of(flow, "x")).result()).isEqualTo("beside");
            assertThat(bodies).hasValue(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_failed_attempt_is_tried_again_while_another_body_is_at_work(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            CountDownLatch secondTry = new CountDownLatch(1);
            AtomicInteger slow = new AtomicInteger();
            Definition<String, String> flow = workflow("beside", (ctx, in) -> {
                DurableFuture<String> waiting = ctx.stepAsync("slow", () -> {
                    slow.incrementAndGet();
                    await(secondTry);
                    return "slow";
                });
                DurableFuture<String> flaky = ctx.stepAsync("flaky", () -> {
                    if (ctx.attempt().number() == 1) {
                        ctx.attempt().retryAfter(Duration.ZERO);
                        throw new IllegalStateException("not yet");
                    }
                    secondTry.countDown();
                    return "flaky" + ctx.attempt().number();
                });
                return String.join(
                        " ", DurableFuture.all(List.of(waiting, flaky)).await());
            });
            perdure.register(flow);
            assertThat(perdure.start(Invocation.of(flow, "x")).result()).isEqualTo("slow flaky2");
            assertThat(slow).hasValue(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void back_offs_of_several_steps_run_side_by_side_out_of_memory(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicInteger bodies = new AtomicInteger();
            Definition<String, String> flow = workflow("back off", (ctx, in) -> {
                List<DurableFuture<Integer>> steps = new ArrayList<>();
                for (int hours = 1; hours <= 3; hours++) {
                    RetryPolicy policy = RetryPolicy.standard()
                            .initialDelay(Duration.ofHours(hours))
                            .maxDelay(Duration.ofHours(hours))
                            .factor(1)
                            .jitter(0);
                    steps.add(ctx.stepAsync(
                            "flaky",
                            () -> {
                                bodies.incrementAndGet();
                                if (ctx.attempt().number() < 3) {
                                    throw new IllegalStateException("not yet");
                                }
                                return ctx.attempt().number();
                            },
                            retry(policy)));
                }
                return DurableFuture.all(steps).await() + " " + ctx.now();
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            perdure.settle();
            assertThat(run.state()).isEqualTo(RunState.SUSPENDED);
            assertThat(run.info().wakeAt()).contains(perdure.now().plus(HOUR));
            perdure.advance(Duration.ofMinutes(90));
            perdure.crash();
            assertThat(run.result()).isEqualTo("[3, 3, 3] 2030-01-01T06:00:00Z");
            assertThat(bodies).hasValue(9);
        }
    }

    @ParameterizedTest
    @EnumSource
    void when_its_attempts_are_used_up_the_failure_is_the_same_on_every_replay(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> seen = new CopyOnWriteArrayList<>();
            AtomicInteger bodies = new AtomicInteger();
            Definition<String, String> flow = workflow("failing", (ctx, in) -> {
                DurableFuture<String> step = ctx.stepAsync(
                        "fail",
                        () -> {
                            bodies.incrementAndGet();
                            throw new IllegalStateException("no");
                        },
                        retry(2));
                try {
                    return step.await();
                } catch (StepFailedException failed) {
                    seen.add(failed.getMessage());
                    ctx.sleep(HOUR);
                    return failed.attempts() + failed.getMessage();
                }
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            perdure.advance(Duration.ofMinutes(1));
            perdure.crash();
            assertThat(run.result())
                    .isEqualTo("2Step 'fail' failed after 2 attempts: java.lang.IllegalStateException: no");
            assertThat(seen).containsOnly("Step 'fail' failed after 2 attempts: java.lang.IllegalStateException: no");
            assertThat(bodies).hasValue(2);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_timeout_interrupts_the_body_it_is_for_and_no_other(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            CountDownLatch timedOut = new CountDownLatch(1);
            Definition<String, String> flow = workflow("timeout", (ctx, in) -> {
                DurableFuture<String> patient = ctx.stepAsync("patient", () -> {
                    await(timedOut);
                    return "patient";
                });
                DurableFuture<String> hurried = ctx.stepAsync(
                        "hurried",
                        () -> {
                            try {
                                await(new CountDownLatch(1));
                            } finally {
                                timedOut.countDown();
                            }
                            return "?";
                        },
                        retry(1).timeout(Duration.ofMillis(50)));
                try {
                    return hurried.await();
                } catch (StepFailedException failed) {
                    return patient.await() + ": " + failed.getMessage();
                }
            });
            perdure.register(flow);
            assertThat(perdure.start(Invocation.of(flow, "x")).result())
                    .isEqualTo("patient: Step 'hurried' failed after 1 attempt: "
                            + "java.util.concurrent.TimeoutException: Step 'hurried' took longer than PT0.05S.");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_worker_that_closes_lets_bodies_finish_and_loses_nothing(TestMode mode) throws Exception {
        try (PerdureTest perdure = create(mode)) {
            CountDownLatch inBodies = new CountDownLatch(2);
            Map<String, Integer> bodies = new ConcurrentHashMap<>();
            Definition<String, String> flow = workflow("closing", (ctx, in) -> {
                List<DurableFuture<String>> steps = new ArrayList<>();
                for (String name : List.of("a", "b")) {
                    steps.add(ctx.stepAsync(name, () -> {
                        bodies.merge(name, 1, Integer::sum);
                        inBodies.countDown();
                        await(inBodies);
                        return name;
                    }));
                }
                String done = String.join("", DurableFuture.all(steps).await());
                ctx.step("last", () -> bodies.merge("last", 1, Integer::sum));
                return done;
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            await(inBodies);
            perdure.restart();
            assertThat(run.result()).isEqualTo("ab");
            assertThat(bodies).isEqualTo(Map.of("a", 1, "b", 1, "last", 1));
        }
    }

    private static List<String> journal(Run<?> run) {
        return run.history().stream()
                .filter(event -> event.position() > 0)
                .map(HistoryEvent::text)
                .toList();
    }
}
