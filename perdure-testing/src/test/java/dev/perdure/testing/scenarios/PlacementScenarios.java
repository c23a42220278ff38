package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Child;
import dev.perdure.ChildOptions;
import dev.perdure.ChildOptions.Sticky;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.dag.Dag;
import dev.perdure.dag.DagRun;
import dev.perdure.error.CancelledException;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.RunFailedException;
import dev.perdure.memory.MemoryStore;
import dev.perdure.queue.Queue;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

abstract class PlacementScenarios extends Scenarios {
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Map<String, String> GPU = Map.of("gpu", "true", "memory", "32");
    private static final String NO_GPU = "No live worker of the queue 'default' has the label 'gpu=true'.";

    private static final Definition<String, String> ECHO =
            workflow("echo", (ctx, in) -> ctx.step("echo", () -> in + "!"));

    private static String reasonOf(Run<?> run) {
        return run.info().reason().orElse("");
    }

    @ParameterizedTest
    @EnumSource
    void a_run_waits_until_a_worker_has_the_labels_that_it_requires(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(ECHO);
            Run<String> run = perdure.start(Invocation.of(ECHO, "a"), id("a").requires("gpu=true", "memory>=16"));
            Run<String> other = perdure.start(Invocation.of(ECHO, "b"), id("b"));
            assertThat(other.result()).isEqualTo("b!");
            perdure.advance(HOUR);
            assertThat(run.state()).isEqualTo(RunState.READY);
            assertThat(reasonOf(run))
                    .isEqualTo("No live worker of the queue 'default' has the labels 'gpu=true', 'memory>=16'.");
            perdure.startWorker(Map.of("gpu", "true", "memory", "8"));
            perdure.advance(HOUR);
            assertThat(run.state()).isEqualTo(RunState.READY);

            perdure.startWorker(GPU);
            assertThat(run.result()).isEqualTo("a!");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_run_needs_its_labels_again_after_a_sleep_and_in_its_next_life(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<Integer, String> rounds = Definition.of("rounds", Integer.class, String.class, (ctx, round) -> {
                ctx.sleep(HOUR);
                if (round < 3) {
                    throw ctx.continueAsNew(round + 1);
                }
                return "round " + round;
            });
            perdure.register(rounds);
            perdure.startWorker(GPU);
            Run<String> run = perdure.start(Invocation.of(rounds, 1), id("r").requires("gpu=true"));
            perdure.settle();
            assertThat(run.state()).isNotEqualTo(RunState.READY);
            perdure.crashAll();
            perdure.startWorker();
            perdure.advance(HOUR.multipliedBy(2));
            assertThat(run.state()).isEqualTo(RunState.READY);
            assertThat(reasonOf(run)).isEqualTo(NO_GPU);
            perdure.startWorker(GPU);
            assertThat(run.result()).isEqualTo("round 3");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_run_that_prefers_labels_runs_elsewhere_if_no_worker_has_them(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(ECHO);
            Run<String> run = perdure.start(Invocation.of(ECHO, "a"), id("a").prefers("region=eu"));
            perdure.settle();
            assertThat(run.state()).isEqualTo(RunState.COMPLETED);

            perdure.startWorker(Map.of("region", "eu"));
            Run<String> next = perdure.start(Invocation.of(ECHO, "b"), id("b").prefers("region=eu"));
            perdure.settle();
            assertThat(next.state()).isEqualTo(RunState.COMPLETED);
            assertThat(next.result()).isEqualTo("b!");
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_tasks_of_a_dag_require_what_the_dag_requires(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Dag<String, String> dag = Dag.of("two", String.class, builder -> {
                var first = builder.task("first", t -> t.input() + "1");
                return builder.after(first).task("second", (t, before) -> before + "2");
            });
            perdure.register(dag);
            DagRun<String> run = perdure.start(dag, "x", id("g").requires("gpu=true"));
            perdure.settle();
            assertThat(run.status().task("first").orElseThrow().state()).isEqualTo(RunState.READY);
            perdure.startWorker(GPU);
            assertThat(run.result()).isEqualTo("x12");
        }
    }

    @ParameterizedTest
    @EnumSource
    void runs_with_labels_keep_the_limits_of_their_queue(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> sleeper = workflow("sleeper", (ctx, in) -> {
                ctx.sleep(HOUR);
                return in;
            });
            perdure.register(sleeper).queues(Queue.named("renders").concurrency(2));
            List<Run<String>> runs = IntStream.range(0, 4)
                    .mapToObj(i -> perdure.start(
                            Invocation.of(sleeper, "r" + i),
                            id("r" + i).queue("renders").key("k" + i % 2).requires("gpu=true")))
                    .toList();
            perdure.settle();
            assertThat(runs).allMatch(run -> run.state() == RunState.READY);
            perdure.startWorker(GPU);
            perdure.settle();
            assertThat(runs.stream().filter(run -> run.state() == RunState.READY))
                    .hasSize(2);
            runs.forEach(run -> assertThat(run.result()).isEqualTo(run.id().value()));
        }
    }

    // ---- sticky children

    private static Definition<String, String> parent(Definition<String, String> child, Sticky sticky) {
        return workflow("parent", (ctx, in) -> {
            Child<String> started = ctx.startChild(
                    Invocation.of(child, in), ChildOptions.childId("child").sticky(sticky));
            try {
                return started.await();
            } catch (RunFailedException failed) {
                return failed.state() + " " + failed.getMessage();
            }
        });
    }

    @ParameterizedTest
    @EnumSource
    void a_sticky_child_runs_and_answers(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> soft = parent(ECHO, Sticky.SOFT);
            perdure.register(ECHO, soft);
            assertThat(perdure.start(Invocation.of(soft, "a")).result()).isEqualTo("a!");
        }
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> hard = parent(ECHO, Sticky.HARD);
            perdure.register(ECHO, hard);
            assertThat(perdure.start(Invocation.of(hard, "a")).result()).isEqualTo("a!");
        }
    }

    private static Definition<String, String> sleeper(List<String> undone) {
        return workflow("sleeper", (ctx, in) -> {
            ctx.step("load", () -> in);
            try {
                ctx.sleep(HOUR);
                return ctx.step("use", () -> in + "!");
            } catch (CancelledException cancelled) {
                ctx.step("undo", () -> {
                    undone.add("undone");
                });
                throw cancelled;
            }
        });
    }

    @ParameterizedTest
    @EnumSource
    void a_soft_sticky_child_continues_elsewhere_when_its_worker_is_gone(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> undone = new CopyOnWriteArrayList<>();
            Definition<String, String> child = sleeper(undone);
            Definition<String, String> parent = parent(child, Sticky.SOFT);
            perdure.register(child, parent);
            Run<String> run = perdure.start(Invocation.of(parent, "a"), id("p"));
            perdure.settle();
            perdure.crashAll();
            perdure.startWorker();
            assertThat(run.result()).isEqualTo("a!");
            assertThat(undone).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_hard_sticky_child_is_cancelled_when_its_worker_is_gone(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> undone = new CopyOnWriteArrayList<>();
            Definition<String, String> child = sleeper(undone);
            Definition<String, String> parent = parent(child, Sticky.HARD);
            perdure.register(child, parent);
            Run<String> run = perdure.start(Invocation.of(parent, "a"), id("p"));
            perdure.settle();
            perdure.crashAll();
            perdure.startWorker();
            assertThat(run.result())
                    .startsWith("CANCELLED Child 'child' is CANCELLED: ")
                    .contains("that worker is gone");
            assertThat(undone).containsExactly("undone");
        }
    }

    // ---- bad input

    @Test
    void requirements_and_labels_are_checked() {
        StartOptions options = StartOptions.defaults();
        assertThatThrownBy(() -> options.requires("gpu"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage(
                        "The requirement 'gpu' is not a label, one of = >= <=, and a value of letters, digits and _ . : / + -. Write it like gpu=true or memory>=16.");
        assertThatThrownBy(() -> options.requires("gpu = true")).isInstanceOf(InvalidRequestException.class);
        assertThatThrownBy(() -> options.prefers("a=b\nc")).isInstanceOf(InvalidRequestException.class);
        assertThatThrownBy(() -> options.requires("memory>=much"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage(
                        "The requirement 'memory>=much' compares with 'much', which is not a number. Write it like memory>=16, or use =.");
        assertThatThrownBy(() -> options.requires("region=eu").requires("region=us"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage(
                        "The run requires region=eu and region=us, which no worker can meet at once. Leave one of them out.");
        assertThatThrownBy(() -> options.requires("worker=7"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage(
                        "The requirement 'worker=7' names a worker, and worker ids change with every start of a process. Use a label, or ChildOptions.sticky.");
        assertThatThrownBy(() -> options.requires(
                        IntStream.range(0, 11).mapToObj(i -> "l" + i + "=1").toArray(String[]::new)))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage(
                        "The run requires 11 labels; at most 10 are allowed. Give workers that have all of them one label of their own.");
        try (MemoryStore store = new MemoryStore()) {
            assertThatThrownBy(() -> Perdure.on(store).label("worker", "1"))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessage(
                            "The label 'worker' is the id of the worker, which the engine sets. Choose another name.");
            assertThatThrownBy(() -> Perdure.on(store).label("region", "e u"))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessage(
                            "The value of the label 'region' is 'e u'; it consists of letters, digits and _ . : / + -.");
        }
    }
}
