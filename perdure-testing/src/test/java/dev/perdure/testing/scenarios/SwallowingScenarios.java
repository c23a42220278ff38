package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.WorkflowContext;
import dev.perdure.object.Handler;
import dev.perdure.object.ObjectContext;
import dev.perdure.object.ObjectHandle;
import dev.perdure.object.VirtualObject;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Workflow code that catches the throwable with which the engine suspends a run, and continues. */
abstract class SwallowingScenarios extends Scenarios {
    private static final Duration HOUR = Duration.ofHours(1);
    /** The number of iterations after which a test stops a loop. */
    private static final int FEW = 20;

    private final AtomicInteger caught = new AtomicInteger();
    private final AtomicBoolean ends = new AtomicBoolean();

    @SuppressWarnings("CatchingUnchecked") // the scenario needs it
    private void forEver(Runnable calls) {
        while (!ends.get()) {
            try {
                calls.run();
            } catch (Throwable swallowed) {
                if (caught.incrementAndGet() > 1_000) {
                    throw new AssertionError("it goes round and round");
                }
            }
        }
    }

    private Definition<String, String> sleeper() {
        return workflow("sleeper", (ctx, in) -> {
            forEver(() -> ctx.sleep(HOUR));
            return in;
        });
    }

    /** Lets the code end, so that no thread remains. */
    private PerdureTest created(TestMode mode) {
        ends.set(false);
        caught.set(0);
        return create(mode);
    }

    @ParameterizedTest
    @EnumSource
    void a_loop_that_swallows_the_unwinding_is_stopped_and_its_run_paused_with_the_line(TestMode mode) {
        try (PerdureTest perdure = created(mode)) {
            Definition<String, String> flow = sleeper();
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("s"));
            perdure.settle();
            assertThat(run.state()).isEqualTo(RunState.PAUSED);
            assertThat(run.info().reason().orElseThrow())
                    .startsWith("The code of run 's' catches Throwable or Error around calls on the context")
                    .contains("SwallowingScenarios.java:")
                    .endsWith("Catch Exception there, or rethrow errors, deploy that, then resume the run.");
            assertThat(statesOf(perdure, "s")).endsWith(RunState.SUSPENDED, RunState.PAUSED);
            assertThat(caught.get()).isLessThan(FEW);
            perdure.advance(HOUR.multipliedBy(3));
            assertThat(caught.get()).isLessThan(FEW);
            run.kill("enough");
            assertThat(run.state()).isEqualTo(RunState.CANCELLED);
            ends.set(true);
        }
    }

    @ParameterizedTest
    @EnumSource
    void mended_code_goes_on_when_its_run_is_resumed(TestMode mode) {
        try (PerdureTest perdure = created(mode)) {
            Definition<String, String> flow = sleeper();
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            perdure.settle();
            assertThat(run.state()).isEqualTo(RunState.PAUSED);
            ends.set(true);
            perdure.deploy(workflow("sleeper", (ctx, in) -> {
                ctx.sleep(HOUR);
                return in + " mended";
            }));
            run.resume();
            assertThat(run.result()).isEqualTo("x mended");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_loop_around_a_step_is_stopped_when_its_run_is_killed_in_the_body(TestMode mode) throws Exception {
        try (PerdureTest perdure = created(mode)) {
            CountDownLatch inBody = new CountDownLatch(1);
            Definition<String, String> flow = workflow("stepper", (ctx, in) -> {
                forEver(() -> ctx.step("work", () -> {
                    inBody.countDown();
                    new CountDownLatch(1).await();
                }));
                return in;
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("k"));
            await(inBody);
            run.kill("enough");
            assertThatThrownBy(run::result).hasMessage("Run 'k' is CANCELLED: enough");
            perdure.settle();
            assertThat(caught.get()).isLessThan(FEW);
            ends.set(true);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_loop_that_waits_for_bodies_which_ignore_interrupts_is_stopped_when_its_run_is_killed(TestMode mode)
            throws Exception {
        try (PerdureTest perdure = created(mode)) {
            CountDownLatch inBody = new CountDownLatch(1);
            CountDownLatch bodyEnds = new CountDownLatch(1);
            Definition<String, String> flow = workflow("async", (ctx, in) -> {
                var future = ctx.stepAsync("work", () -> {
                    inBody.countDown();
                    forEver(() -> uninterrupted(bodyEnds));
                    return "never";
                });
                forEver(future::await);
                return in;
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("k"));
            await(inBody);
            run.kill("enough");
            assertThatThrownBy(run::result).hasMessage("Run 'k' is CANCELLED: enough");
            until(() -> caught.get() > 4);
            assertThat(caught.get()).isLessThan(FEW);
            ends.set(true);
            bodyEnds.countDown();
        }
    }

    private static void uninterrupted(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException swallowed) {
            throw new IllegalStateException(swallowed);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_handler_that_swallows_the_unwinding_is_paused_and_a_kill_frees_its_key(TestMode mode) {
        try (PerdureTest perdure = created(mode)) {
            Stubborn stubborn = new Stubborn();
            perdure.register(stubborn);
            ObjectHandle<Stubborn> object = perdure.object(Stubborn.class, "a");
            Run<String> first = object.send(Stubborn::loop, StartOptions.defaults());
            Run<String> next = object.send(Stubborn::call, StartOptions.defaults());
            perdure.settle();
            assertThat(first.state()).isEqualTo(RunState.PAUSED);
            assertThat(next.state()).isEqualTo(RunState.PENDING);
            first.kill("enough");
            assertThat(next.result()).isEqualTo("called");
            assertThat(stubborn.rounds.get()).isLessThan(FEW);
            stubborn.ends.set(true);
        }
    }

    @VirtualObject("stubborn")
    static final class Stubborn {
        final AtomicBoolean ends = new AtomicBoolean();
        final AtomicInteger rounds = new AtomicInteger();

        @Handler
        public String loop(ObjectContext ctx) {
            while (!ends.get()) {
                try {
                    ctx.sleep(HOUR);
                } catch (Throwable swallowed) {
                    if (rounds.incrementAndGet() > 1_000) {
                        throw new AssertionError("it goes round and round");
                    }
                }
            }
            return "looped";
        }

        @Handler
        public String call(ObjectContext ctx) {
            return "called";
        }
    }

    @Test
    void a_closing_worker_gives_such_a_run_back_and_does_not_pause_it() {
        try (PerdureTest perdure = created(TestMode.NORMAL)) {
            Definition<String, String> flow = workflow("napper", (ctx, in) -> {
                forEver(() -> {
                    ctx.sleep(Duration.ofMillis(900)); // short enough to stay in memory
                    ends.set(true);
                });
                return in;
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("c"));
            perdure.settle();
            perdure.restart();
            assertThat(caught.get()).isPositive();
            assertThat(run.result()).isEqualTo("x");
            assertThat(statesOf(perdure, "c")).doesNotContain(RunState.PAUSED);
        }
    }

    @ParameterizedTest
    @EnumSource
    void calls_on_the_context_in_finally_swallow_nothing_however_deep_they_are(TestMode mode) {
        try (PerdureTest perdure = created(mode)) {
            Definition<String, String> flow = workflow("deep", (ctx, in) -> {
                down(ctx, 30);
                return in;
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            perdure.settle();
            assertThat(run.state()).isEqualTo(RunState.SUSPENDED);
            assertThat(run.result()).isEqualTo("x");
        }
    }

    private static void down(WorkflowContext ctx, int levels) {
        try {
            if (levels == 0) {
                ctx.sleep(HOUR);
            } else {
                down(ctx, levels - 1);
            }
        } finally {
            ctx.step("tidy up", () -> {});
        }
    }
}
