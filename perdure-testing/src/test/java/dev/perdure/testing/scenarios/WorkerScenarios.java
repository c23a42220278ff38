package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.error.ClosedException;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

abstract class WorkerScenarios extends Scenarios {
    @ParameterizedTest
    @EnumSource
    void a_closing_worker_lets_a_body_finish_and_another_goes_on(TestMode mode) throws Exception {
        try (PerdureTest perdure = create(mode)) {
            CountDownLatch inBody = new CountDownLatch(1);
            CountDownLatch goOn = new CountDownLatch(1);
            AtomicInteger bodies = new AtomicInteger();
            List<String> done = new CopyOnWriteArrayList<>();
            Definition<String, String> flow = workflow("busy", (ctx, in) -> {
                ctx.step("work", () -> {
                    bodies.incrementAndGet();
                    inBody.countDown();
                    await(goOn);
                });
                ctx.step("more", () -> done.add("more"));
                return in;
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("b"));
            await(inBody);
            CompletableFuture<Void> deployed = CompletableFuture.runAsync(() -> perdure.deploy(flow));
            goOn.countDown();
            deployed.get(20, TimeUnit.SECONDS);
            assertThat(run.result()).isEqualTo("x");
            assertThat(bodies).hasValue(1);
            assertThat(done).containsExactly("more");
            assertThat(run.info().recoveries()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_worker_restarts_under_a_sleeping_and_under_a_dozing_run(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<Long, Long> flow = Definition.of("sleepy", Long.class, Long.class, (ctx, millis) -> {
                ctx.sleep(Duration.ofMillis(millis));
                return millis;
            });
            perdure.register(flow);
            Run<Long> asleep = perdure.start(Invocation.of(flow, 3_600_000L));
            Run<Long> dozing = perdure.start(Invocation.of(flow, 900L));
            perdure.settle();
            perdure.restart();
            perdure.settle();
            perdure.restart();
            assertThat(dozing.result()).isEqualTo(900L);
            assertThat(perdure.now()).isEqualTo("2030-01-01T00:00:00.900Z");
            assertThat(asleep.result()).isEqualTo(3_600_000L);
            assertThat(perdure.now()).isEqualTo("2030-01-01T01:00:00Z");
        }
    }

    @ParameterizedTest
    @EnumSource
    void more_runs_than_fit_are_never_in_memory_at_once_and_all_end(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.maxRuns(4);
            int workers = mode == TestMode.THREE_WORKERS ? 3 : 1;
            AtomicInteger now = new AtomicInteger();
            AtomicInteger most = new AtomicInteger();
            Definition<Integer, Integer> flow = Definition.of("crowd", Integer.class, Integer.class, (ctx, in) -> {
                most.accumulateAndGet(now.incrementAndGet(), Math::max);
                try {
                    return ctx.step("work", () -> in);
                } finally {
                    now.decrementAndGet();
                }
            });
            perdure.register(flow);
            List<Integer> inputs = IntStream.range(0, 100).boxed().toList();
            List<Run<Integer>> runs =
                    perdure.startAll(inputs, in -> Invocation.of(flow, in), in -> StartOptions.defaults());
            assertThat(runs.stream().map(Run::result)).isEqualTo(inputs);
            assertThat(most.get()).isLessThanOrEqualTo(4 * workers);
        }
    }

    @ParameterizedTest
    @EnumSource
    void higher_priority_goes_first_then_the_older(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.maxRuns(1);
            List<String> order = new CopyOnWriteArrayList<>();
            Definition<String, String> flow = workflow("queue", (ctx, in) -> {
                order.add(in);
                return in;
            });
            perdure.register(workflow("other", (ctx, in) -> in));
            perdure.start(Invocation.of(flow, "old"), StartOptions.defaults());
            perdure.start(Invocation.of(flow, "low"), StartOptions.defaults().priority(-1));
            perdure.start(Invocation.of(flow, "high"), StartOptions.defaults().priority(5));
            perdure.start(Invocation.of(flow, "new"), StartOptions.defaults());
            perdure.deploy(flow);
            perdure.settle();
            assertThat(order).containsExactly("high", "old", "new", "low");
        }
    }

    @ParameterizedTest
    @EnumSource
    void several_engines_share_one_store_and_survive_each_other(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicInteger bodies = new AtomicInteger();
            Definition<Integer, Integer> flow = Definition.of("shared", Integer.class, Integer.class, (ctx, in) -> {
                ctx.sleep(Duration.ofMinutes(in));
                return ctx.step("work", () -> {
                    bodies.incrementAndGet();
                    return in;
                });
            });
            perdure.register(flow);
            perdure.startWorker();
            perdure.startWorker();
            List<Integer> inputs = IntStream.range(0, 30).boxed().toList();
            List<Run<Integer>> runs =
                    perdure.startAll(inputs, in -> Invocation.of(flow, in), in -> StartOptions.defaults());
            perdure.advance(Duration.ofMinutes(10));
            perdure.crash();
            perdure.advance(Duration.ofMinutes(10));
            perdure.crash();
            assertThat(runs.stream().map(Run::result)).isEqualTo(inputs);
            assertThat(bodies).hasValue(30);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_closed_engine_refuses_and_says_so(TestMode mode) {
        PerdureTest perdure = create(mode);
        Definition<String, String> flow = workflow("flow", (ctx, in) -> {
            ctx.sleep(Duration.ofHours(1));
            return in;
        });
        perdure.register(flow);
        Run<String> run = perdure.start(Invocation.of(flow, "x"), id("open"));
        perdure.settle();
        perdure.close();
        perdure.close();
        assertThatThrownBy(() -> perdure.start(Invocation.of(flow, "y")))
                .isInstanceOf(ClosedException.class)
                .hasMessageContaining("This engine is closed.");
        assertThatThrownBy(run::result)
                .isInstanceOf(ClosedException.class)
                .hasMessage("The engine is closed, so it cannot wait for run 'open'. "
                        + "Wait through an engine that is open.");
        assertThatThrownBy(() -> perdure.advance(Duration.ofHours(1)))
                .isInstanceOf(ClosedException.class)
                .hasMessageContaining("This PerdureTest is closed.");
        assertThatThrownBy(() -> run.cancel("late")).isInstanceOf(ClosedException.class);
        assertThat(run.state()).isEqualTo(RunState.SUSPENDED);
        assertThat(perdure.clockwork().threads()).isZero();
    }
}
