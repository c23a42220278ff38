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
import dev.perdure.StepAction;
import dev.perdure.TypeRef;
import dev.perdure.error.CancelledException;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

abstract class KillScenarios extends Scenarios {
    private static final Duration HOUR = Duration.ofHours(1);

    private static Definition<String, String> compensating(List<String> done) {
        return workflow("flow", (ctx, in) -> {
            try {
                if (in.equals("sleep")) {
                    ctx.sleep(HOUR);
                }
                ctx.step(
                        "fail",
                        (StepAction) () -> {
                            throw new IllegalStateException("no");
                        },
                        retry(RetryPolicy.standard().initialDelay(HOUR).jitter(0)));
                return in;
            } catch (CancelledException | AssertionError cancelled) {
                ctx.step("undo", () -> done.add("undo"));
                throw cancelled;
            }
        });
    }

    private static void assertKilled(PerdureTest perdure, Run<String> run, List<String> done) {
        perdure.settle();
        assertThat(run.state()).isEqualTo(RunState.CANCELLED);
        assertThat(run.info().reason()).contains("enough");
        assertThatThrownBy(run::result).hasMessage("Run 'k' is CANCELLED: enough");
        perdure.advance(Duration.ofDays(1));
        assertThat(done).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void a_sleeping_run_is_killed_without_compensation(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> done = new CopyOnWriteArrayList<>();
            Definition<String, String> flow = compensating(done);
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "sleep"), id("k"));
            perdure.settle();
            run.kill("enough");
            assertKilled(perdure, run, done);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_run_that_backs_off_is_killed_without_compensation(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> done = new CopyOnWriteArrayList<>();
            Definition<String, String> flow = compensating(done);
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "back off"), id("k"));
            perdure.settle();
            assertThat(run.state()).isEqualTo(RunState.BACKING_OFF);
            run.kill("enough");
            assertKilled(perdure, run, done);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_paused_run_is_killed(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> done = new CopyOnWriteArrayList<>();
            Definition<String, String> flow = compensating(done);
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "sleep"), id("k"));
            perdure.settle();
            run.pause("first");
            run.kill("enough");
            assertKilled(perdure, run, done);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_queued_run_is_killed(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(workflow("other", (ctx, in) -> in));
            Run<String> run = perdure.start(Invocation.of("nobody-has-it", "x", TypeRef.of(String.class)), id("k"));
            run.kill("enough");
            assertKilled(perdure, run, List.of());
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_body_that_blocks_is_interrupted_and_its_run_killed_over_its_head(TestMode mode) throws Exception {
        try (PerdureTest perdure = create(mode)) {
            List<String> done = new CopyOnWriteArrayList<>();
            CountDownLatch inBody = new CountDownLatch(1);
            AtomicBoolean interrupted = new AtomicBoolean();
            Definition<String, String> flow = workflow("blocked", (ctx, in) -> {
                try {
                    ctx.step("block", () -> {
                        inBody.countDown();
                        try {
                            await(new CountDownLatch(1));
                        } catch (InterruptedException stop) {
                            interrupted.set(true);
                            throw stop;
                        }
                    });
                } catch (Throwable anything) {
                    done.add("reached " + anything.getClass().getSimpleName());
                    ctx.step("undo", () -> done.add("undo"));
                }
                return in;
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("k"));
            await(inBody);
            run.kill("enough");
            assertThatThrownBy(run::result).hasMessage("Run 'k' is CANCELLED: enough");
            perdure.settle();
            assertThat(interrupted).isTrue();
            assertThat(done).containsOnly("reached Unwind");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_body_that_will_not_be_interrupted_does_not_keep_its_run_alive(TestMode mode) throws Exception {
        try (PerdureTest perdure = create(mode)) {
            CountDownLatch inBody = new CountDownLatch(1);
            CountDownLatch release = new CountDownLatch(1);
            List<String> done = new CopyOnWriteArrayList<>();
            Definition<String, String> flow = workflow("deaf", (ctx, in) -> {
                ctx.step("block", () -> {
                    inBody.countDown();
                    while (release.getCount() > 0) {
                        try {
                            await(release);
                        } catch (InterruptedException deaf) {
                            done.add("ignored");
                        }
                    }
                });
                ctx.step("after", () -> done.add("after"));
                return in;
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("k"));
            await(inBody);
            run.kill("enough");
            assertThatThrownBy(run::result).hasMessage("Run 'k' is CANCELLED: enough");
            release.countDown();
            perdure.settle();
            assertThat(run.state()).isEqualTo(RunState.CANCELLED);
            assertThat(done).containsExactly("ignored");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_kill_of_a_run_whose_worker_died_is_obeyed_by_the_sweep(TestMode mode) throws Exception {
        try (PerdureTest perdure = create(mode)) {
            CountDownLatch inBody = new CountDownLatch(1);
            Definition<String, String> flow = workflow("orphan", (ctx, in) -> {
                ctx.step("block", () -> {
                    inBody.countDown();
                    await(new CountDownLatch(1));
                });
                return in;
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("k"));
            await(inBody);
            perdure.crashAll();
            run.kill("enough");
            perdure.startWorker();
            assertKilled(perdure, run, List.of());
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_reason_that_cannot_be_stored_is_refused(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = compensating(new CopyOnWriteArrayList<>());
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "sleep"), id("k"));
            perdure.settle();
            for (String bad : new String[] {"\u0000", "half \uD800", "x".repeat(1_001), null}) {
                assertThatThrownBy(() -> run.kill(bad))
                        .isInstanceOf(InvalidRequestException.class)
                        .hasMessageContaining("The reason");
            }
            assertThat(run.state()).isEqualTo(RunState.SUSPENDED);
            run.kill("because 😀");
            assertThat(run.info().reason()).contains("because 😀");
        }
    }
}
