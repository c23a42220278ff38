package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static dev.perdure.StepOptions.retry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.RetryPolicy;
import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.StepAction;
import dev.perdure.TypeRef;
import dev.perdure.error.CancelledException;
import dev.perdure.error.RunFailedException;
import dev.perdure.error.StepFailedException;
import dev.perdure.error.UnknownRunException;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

abstract class CancellationScenarios extends Scenarios {
    private static final Duration HOUR = Duration.ofHours(1);

    /** Books, then does what the test wants, and cancels the booking when the run is cancelled. */
    private static Definition<String, String> booking(List<String> done, Runnable inBody) {
        return workflow("booking", (ctx, in) -> {
            ctx.step("book", () -> done.add("book"));
            try {
                switch (in) {
                    case "sleep" -> ctx.sleep(HOUR);
                    case "doze" -> ctx.sleep(Duration.ofMillis(900));
                    case "body" -> ctx.step("work", inBody::run);
                    default ->
                        ctx.step(
                                "fail",
                                (StepAction) () -> {
                                    throw new IllegalStateException("no");
                                },
                                retry(RetryPolicy.standard().initialDelay(HOUR).jitter(0)));
                }
                return "done";
            } catch (CancelledException cancelled) {
                ctx.step("unbook", () -> done.add("unbook: " + cancelled.getMessage()));
                throw cancelled;
            }
        });
    }

    private static void assertCompensated(Run<String> run, List<String> done) {
        assertThatThrownBy(run::result)
                .isInstanceOf(RunFailedException.class)
                .hasMessage("Run '%s' is CANCELLED: changed my mind".formatted(run.id()));
        assertThat(run.state()).isEqualTo(RunState.CANCELLED);
        assertThat(done).containsExactly("book", "unbook: changed my mind");
    }

    @ParameterizedTest
    @EnumSource
    void a_cancel_wakes_a_sleeping_run_and_compensation_runs(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> done = new CopyOnWriteArrayList<>();
            Definition<String, String> flow = booking(done, () -> {});
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "sleep"), id("trip"));
            perdure.settle();
            assertThat(run.state()).isEqualTo(RunState.SUSPENDED);
            run.cancel("changed my mind");
            perdure.settle();
            assertThat(perdure.now()).isEqualTo("2030-01-01T00:00:00Z");
            assertCompensated(run, done);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_cancel_reaches_a_run_that_dozes_in_memory(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> done = new CopyOnWriteArrayList<>();
            Definition<String, String> flow = booking(done, () -> {});
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "doze"), id("trip"));
            perdure.settle();
            run.cancel("changed my mind");
            perdure.settle();
            assertCompensated(run, done);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_cancel_ends_a_back_off_and_compensation_runs(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> done = new CopyOnWriteArrayList<>();
            Definition<String, String> flow = booking(done, () -> {});
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "back off"), id("trip"));
            perdure.settle();
            assertThat(run.state()).isEqualTo(RunState.BACKING_OFF);
            run.cancel("changed my mind");
            perdure.settle();
            assertThat(perdure.now()).isEqualTo("2030-01-01T00:00:00Z");
            assertCompensated(run, done);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_cancel_interrupts_a_running_body_and_compensation_runs(TestMode mode) throws Exception {
        try (PerdureTest perdure = create(mode)) {
            List<String> done = new CopyOnWriteArrayList<>();
            CountDownLatch inBody = new CountDownLatch(1);
            AtomicInteger interrupts = new AtomicInteger();
            Definition<String, String> flow = booking(done, () -> {
                inBody.countDown();
                try {
                    await(new CountDownLatch(1));
                } catch (InterruptedException stop) {
                    interrupts.incrementAndGet();
                    throw new IllegalStateException(stop);
                }
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "body"), id("trip"));
            await(inBody);
            run.cancel("changed my mind");
            assertCompensated(run, done);
            assertThat(interrupts).hasValue(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_body_that_finishes_in_spite_of_a_cancel_counts(TestMode mode) throws Exception {
        try (PerdureTest perdure = create(mode)) {
            CountDownLatch inBody = new CountDownLatch(1);
            List<String> seen = new CopyOnWriteArrayList<>();
            Definition<String, String> flow = workflow("stubborn", (ctx, in) -> {
                seen.add(ctx.step("pay", () -> {
                    inBody.countDown();
                    try {
                        await(new CountDownLatch(1));
                    } catch (InterruptedException ignored) {
                        return "paid all the same";
                    }
                    return "?";
                }));
                ctx.step("never", () -> seen.add("never"));
                return in;
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            await(inBody);
            run.cancel("stop");
            assertThatThrownBy(run::result).hasMessageContaining("is CANCELLED: stop");
            assertThat(seen).containsOnly("paid all the same");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_queued_run_that_never_ran_is_cancelled_at_once(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(workflow("other", (ctx, in) -> in));
            Run<String> run =
                    perdure.start(Invocation.of("nobody-has-it", "x", TypeRef.of(String.class)), id("queued"));
            run.cancel("no longer needed");
            assertThat(run.state()).isEqualTo(RunState.CANCELLED);
            assertThatThrownBy(run::result).hasMessage("Run 'queued' is CANCELLED: no longer needed");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_cancel_while_no_worker_is_up_is_delivered_by_the_next(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> done = new CopyOnWriteArrayList<>();
            Definition<String, String> flow = booking(done, () -> {});
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "sleep"), id("trip"));
            perdure.settle();
            perdure.crashAll();
            run.cancel("changed my mind");
            assertThat(run.state()).isEqualTo(RunState.READY);
            perdure.startWorker();
            perdure.settle();
            assertCompensated(run, done);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_cancel_is_delivered_once_and_the_same_on_replay(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> done = new CopyOnWriteArrayList<>();
            Definition<String, String> flow = workflow("long", (ctx, in) -> {
                try {
                    ctx.sleep(HOUR);
                    return "slept";
                } catch (CancelledException cancelled) {
                    // Compensation may wait as well, and is not cancelled again.
                    ctx.sleep(HOUR);
                    ctx.step("undo", () -> done.add("undo"));
                    ctx.sleep(HOUR);
                    return "undone: " + cancelled.getMessage();
                }
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            perdure.settle();
            run.cancel("first");
            perdure.settle();
            run.cancel("second");
            perdure.crash();
            perdure.advance(HOUR);
            perdure.crash();
            assertThat(run.result()).isEqualTo("undone: first");
            assertThat(run.state()).isEqualTo(RunState.COMPLETED);
            assertThat(done).containsExactly("undo");
            assertThat(perdure.now()).isEqualTo("2030-01-01T02:00:00Z");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_saga_compensates_in_reverse_and_retries_each(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> done = new CopyOnWriteArrayList<>();
            AtomicInteger tries = new AtomicInteger();
            Definition<String, String> flow = workflow("saga", (ctx, in) -> {
                Deque<String> undo = new ArrayDeque<>();
                try {
                    for (String what : List.of("flight", "hotel", "car")) {
                        ctx.step("book " + what, () -> done.add("book " + what));
                        undo.push(what);
                    }
                    ctx.step(
                            "pay",
                            (StepAction) () -> {
                                throw new IllegalStateException("no money");
                            },
                            retry(1));
                    return "booked";
                } catch (StepFailedException failed) {
                    for (String what : undo) {
                        ctx.step("cancel " + what, () -> {
                            if (tries.incrementAndGet() % 2 == 1) {
                                throw new IllegalStateException("busy");
                            }
                            done.add("cancel " + what);
                        });
                    }
                    throw failed;
                }
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            assertThatThrownBy(run::result)
                    .hasMessageContaining(
                            "Step 'pay' failed after 1 attempt: java.lang.IllegalStateException: no money");
            assertThat(run.state()).isEqualTo(RunState.FAILED);
            assertThat(done)
                    .containsExactly(
                            "book flight", "book hotel", "book car", "cancel car", "cancel hotel", "cancel flight");
            assertThat(tries).hasValue(6);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_failing_compensation_is_visible(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("bad saga", (ctx, in) -> {
                try {
                    ctx.sleep(HOUR);
                    return in;
                } catch (CancelledException cancelled) {
                    ctx.step(
                            "refund",
                            (StepAction) () -> {
                                throw new IllegalStateException("bank closed");
                            },
                            retry(2));
                    throw cancelled;
                }
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("bad"));
            perdure.settle();
            run.cancel("stop");
            assertThatThrownBy(run::result)
                    .hasMessageContaining(
                            "Step 'refund' failed after 2 attempts: java.lang.IllegalStateException: bank closed");
            assertThat(run.state()).isEqualTo(RunState.FAILED);
            perdure.settle();
            assertThat(perdure.changes())
                    .anySatisfy(change -> assertThat(change.reason().orElse("")).contains("refund"));
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_cancel_of_a_finished_run_changes_nothing(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("quick", (ctx, in) -> in);
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            assertThat(run.result()).isEqualTo("x");
            run.cancel("too late");
            run.kill("too late");
            run.pause("too late");
            run.resume();
            perdure.settle();
            assertThat(run.state()).isEqualTo(RunState.COMPLETED);
            assertThat(run.result()).isEqualTo("x");
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_unknown_run_is_an_error(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(workflow("other", (ctx, in) -> in));
            assertThatThrownBy(() -> perdure.run(RunId.of("nobody"), TypeRef.of(String.class)))
                    .isInstanceOf(UnknownRunException.class)
                    .hasMessageContaining("There is no run 'nobody'.");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_cancel_that_comes_when_the_code_asks_for_nothing_more_loses_to_completion(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("last", (ctx, in) -> {
                perdure.run(ctx.runId(), TypeRef.of(String.class)).cancel("late");
                return in;
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            assertThat(run.result()).isEqualTo("x");
            assertThat(run.state()).isEqualTo(RunState.COMPLETED);
        }
    }
}
