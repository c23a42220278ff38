package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.WorkflowContext;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

abstract class PoisonScenarios extends Scenarios {
    /** Kills the process before it commits what the run has done since its last commit. */
    private static void die(PerdureTest perdure, WorkflowContext ctx) {
        ctx.step("die", perdure::crashBeforeNextCommit);
        throw new AssertionError("a dead process went on");
    }

    @ParameterizedTest
    @EnumSource
    void a_run_that_kills_its_worker_ten_times_is_paused_and_the_others_finish(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicInteger deaths = new AtomicInteger();
            AtomicBoolean mended = new AtomicBoolean();
            Definition<String, String> poison = workflow(
                    "poison",
                    (ctx, in) -> ctx.step("boom", () -> {
                        if (!mended.get()) {
                            deaths.incrementAndGet();
                            perdure.crashBeforeNextCommit();
                        }
                        return in;
                    }));
            Definition<String, String> good = workflow("good", (ctx, in) -> {
                ctx.sleep(Duration.ofHours(1));
                return ctx.step("work", () -> in + "!");
            });
            perdure.register(poison, good);
            List<Run<String>> others = new CopyOnWriteArrayList<>();
            for (int i = 0; i < 5; i++) {
                others.add(perdure.start(Invocation.of(good, "good-" + i)));
            }
            perdure.settle();
            Run<String> run = perdure.start(Invocation.of(poison, "x"), id("poison"));
            perdure.settle();
            assertThat(run.state()).isEqualTo(RunState.PAUSED);
            assertThat(run.info().reason().orElseThrow()).contains("Recovered 10 times without progress");
            assertThat(run.info().recoveries()).isEqualTo(10);
            assertThat(deaths.get()).isBetween(10, 11);
            assertThat(others).allSatisfy(other -> assertThat(other.result()).endsWith("!"));
            mended.set(true);
            run.resume();
            assertThat(run.result()).isEqualTo("x");
        }
    }

    @ParameterizedTest
    @EnumSource
    void progress_resets_the_count(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicInteger entered = new AtomicInteger();
            Definition<String, String> flow = workflow("slow poison", (ctx, in) -> {
                for (int i = 0; i < 4; i++) {
                    ctx.step("progress", () -> {});
                    int round = i;
                    if (entered.incrementAndGet() <= (round + 1) * 9 && mode != TestMode.REPLAY_AFTER_EVERY_STEP) {
                        die(perdure, ctx);
                    }
                }
                return in;
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            perdure.settle();
            assertThat(run.state()).isEqualTo(RunState.COMPLETED);
            assertThat(entered.get()).isGreaterThan(mode == TestMode.REPLAY_AFTER_EVERY_STEP ? 4 : 20);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_run_that_went_on_since_it_was_recovered_need_not_run_alone_any_more(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicInteger entered = new AtomicInteger();
            Definition<String, String> flow = workflow("recovered", (ctx, in) -> {
                if (entered.incrementAndGet() <= 4) {
                    die(perdure, ctx);
                }
                ctx.step("progress", () -> {});
                ctx.sleep(Duration.ofHours(1));
                return in;
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            perdure.settle();
            assertThat(run.state()).isEqualTo(RunState.SUSPENDED);
            assertThat(run.info().recoveries()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "THREE_WORKERS")
    void after_three_recoveries_a_run_runs_alone(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicInteger running = new AtomicInteger();
            AtomicInteger entered = new AtomicInteger();
            Definition<String, String> poison = workflow("poison", (ctx, in) -> {
                if (entered.get() > 3 && mode == TestMode.NORMAL) {
                    until(() -> running.get() == 0); // except those still leaving the dead process
                }
                if (entered.incrementAndGet() <= 6) {
                    die(perdure, ctx);
                }
                return in;
            });
            Definition<String, String> good = workflow("good", (ctx, in) -> {
                running.incrementAndGet();
                try {
                    // Short enough to stay in memory, so that it runs concurrently with the others.
                    ctx.sleep(Duration.ofMillis(800));
                } finally {
                    running.decrementAndGet();
                }
                return in;
            });
            perdure.register(poison, good);
            List<Run<String>> others = new CopyOnWriteArrayList<>();
            for (int i = 0; i < 3; i++) {
                others.add(perdure.start(Invocation.of(good, "good-" + i)));
            }
            Run<String> run = perdure.start(Invocation.of(poison, "x"));
            assertThat(run.result()).isEqualTo("x");
            assertThat(others).allSatisfy(other -> assertThat(other.result()).startsWith("good"));
        }
    }
}
