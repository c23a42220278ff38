package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.ChildOptions;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.TypeRef;
import dev.perdure.dag.Dag;
import dev.perdure.dag.DagRun;
import dev.perdure.dag.DagStatus;
import dev.perdure.dag.DagTask;
import dev.perdure.dag.Outputs;
import dev.perdure.dag.TaskStatus;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.PayloadException;
import dev.perdure.error.RunConflictException;
import dev.perdure.error.TerminalException;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** DAGs of every shape: tasks run in order and once, and get the outputs of the tasks before them. */
abstract class DagScenarios extends Scenarios {
    @ParameterizedTest
    @EnumSource
    void a_line_runs_in_order(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Dag<String, String> line = Dag.of("linear", String.class, dag -> {
                var a = dag.task("step-a", t -> "result-a");
                var b = dag.after(a).task("step-b", (t, first) -> "result-b-" + first);
                return dag.after(b).task("step-c", (t, second) -> "result-c-" + second);
            });
            perdure.register(line);
            DagRun<String> run = perdure.start(line, "x", id("g"));
            assertThat(run.result()).isEqualTo("result-c-result-b-result-a");
            assertThat(run.state()).isEqualTo(RunState.COMPLETED);
            assertThat(perdure.run(RunId.of("g/step-c"), TypeRef.of(String.class))
                            .result())
                    .isEqualTo("result-c-result-b-result-a");
        }
    }

    @Test
    void attaching_with_another_dag_and_asking_for_a_task_that_is_none_are_refused() {
        try (PerdureTest perdure = create(TestMode.NORMAL)) {
            Dag<String, String> line = Dag.of("line", String.class, dag -> {
                var a = dag.task("a", t -> "a");
                return dag.after(a).task("b", (t, first) -> first + "b");
            });
            Dag<String, String> other = Dag.of("other", String.class, dag -> dag.task("a", t -> "a"));
            perdure.register(line, other);
            DagRun<String> run = perdure.start(line, "x", id("g"));
            assertThat(run).hasToString("DagRun[g of line]");
            assertThat(line).hasToString("Dag[line]");
            run.result();
            assertThatThrownBy(() ->
                            perdure.run(RunId.of("g"), TypeRef.of(Object.class)).dag(other))
                    .isInstanceOf(RunConflictException.class)
                    .hasMessage(
                            "Run 'g' is of 'line', not of DAG 'other'. Give the DAG that it runs, or use its handle as it is if it runs none.");
            assertThatThrownBy(() -> perdure.run(RunId.of("g/a"), TypeRef.of(Object.class))
                            .dag(line))
                    .isInstanceOf(RunConflictException.class)
                    .hasMessageContaining("Run 'g/a' is of 'line/a', not of DAG 'line'.");
            Outputs outputs = run.status().outputs();
            assertThatThrownBy(() -> outputs.get("nope", TypeRef.of(String.class)))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessage("DAG 'line' has no task 'nope'; it has a, b.");
            assertThatThrownBy(() -> outputs.get("a", TypeRef.of(Integer.class)))
                    .isInstanceOf(PayloadException.class)
                    .hasMessageStartingWith("The output of task 'a' of DAG 'line' cannot be read.")
                    .hasMessageEndingWith(". Ask for it with the type that it was written with.");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_diamond_joins_once_after_both_sides(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> order = new CopyOnWriteArrayList<>();
            Dag<String, Integer> diamond = Dag.of("diamond", String.class, dag -> {
                var a = dag.task("a", t -> noted(order, "a", 1));
                var b = dag.after(a).task("b", (t, one) -> noted(order, "b", 2));
                var c = dag.after(a).task("c", (t, one) -> noted(order, "c", 3));
                return dag.after(b, c).task("d", (t, two, three) -> noted(order, "d", two + three));
            });
            perdure.register(diamond);
            assertThat(perdure.start(diamond, "x").result()).isEqualTo(5);
            assertThat(order)
                    .containsExactlyInAnyOrder("a", "b", "c", "d")
                    .startsWith("a")
                    .endsWith("d");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_task_may_give_nothing(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> order = new CopyOnWriteArrayList<>();
            Dag<String, Integer> quiet = Dag.of("quiet", String.class, dag -> {
                var a = dag.run("a", t -> order.add("a " + t.input()));
                var one = dag.task("one", t -> 1).alsoAfter(a);
                var b = dag.after(one).run("b", (t, x) -> order.add("b " + x));
                var c = dag.after(a, b).run("c", (t, x, y) -> order.add("c"));
                var d = dag.after(a, b, c).run("d", (t, x, y, z) -> order.add("d"));
                var e = dag.after(a, b, c, d).run("e", (t, w, x, y, z) -> order.add("e"));
                var f = dag.after(List.of(d, e)).run("f", (t, all) -> order.add("f " + all));
                return dag.after(f).task("count", (t, x) -> order.size());
            });
            perdure.register(quiet);
            DagRun<Integer> run = perdure.start(quiet, "x");
            assertThat(run.result()).isEqualTo(6);
            assertThat(order).containsExactly("a x", "b 1", "c", "d", "e", "f [null, null]");
            assertThat(run.status().outputs().get("f", TypeRef.of(Void.class))).isNull();
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_durable_function_may_give_nothing(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> order = new CopyOnWriteArrayList<>();
            Duration hour = Duration.ofHours(1);
            Dag<String, Integer> quiet = Dag.of("quiet", String.class, dag -> {
                var a = dag.runWorkflow("a", (ctx, t) -> {
                    ctx.sleep(hour);
                    ctx.step("say", () -> order.add("a " + t.input()));
                });
                var one = dag.task("one", t -> 1).alsoAfter(a);
                var b = dag.after(one).runWorkflow("b", (ctx, t, x) -> ctx.step("say", () -> order.add("b " + x)));
                var c = dag.after(a, b).runWorkflow("c", (ctx, t, x, y) -> ctx.step("say", () -> order.add("c")));
                var d = dag.after(a, b, c).runWorkflow("d", (ctx, t, x, y, z) -> ctx.step("say", () -> order.add("d")));
                var e = dag.after(a, b, c, d).runWorkflow("e", (ctx, t, w, x, y, z) -> ctx.sleep(hour));
                var f = dag.after(List.of(d, e))
                        .runWorkflow("f", (ctx, t, all) -> ctx.step("say", () -> order.add("f " + all)));
                return dag.after(f).task("count", (t, x) -> order.size());
            });
            perdure.register(quiet);
            DagRun<Integer> run = perdure.start(quiet, "x");
            assertThat(run.result()).isEqualTo(5);
            assertThat(order).containsExactly("a x", "b 1", "c", "d", "f [null, null]");
            assertThat(run.status().outputs().get("f", TypeRef.of(Void.class))).isNull();
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_workflow_calls_a_dag(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Dag<String, String> line = Dag.of("called", String.class, dag -> {
                var a = dag.task("a", t -> t.input() + "a");
                return dag.after(a).task("b", (t, first) -> first + "b").waitFor(Duration.ofHours(1));
            });
            Definition<String, String> caller = Definition.of("caller", String.class, String.class, (ctx, input) -> {
                String one = ctx.call(Invocation.of(line, input));
                return ctx.startChild(Invocation.of(line, one), ChildOptions.childId("second"))
                                .await() + "!";
            });
            perdure.register(line).register(caller);
            assertThat(perdure.start(Invocation.of(caller, "x")).result()).isEqualTo("xabab!");
            assertThat(perdure.run(RunId.of("second"), TypeRef.of(Object.class))
                            .dag(line)
                            .status()
                            .tasks())
                    .extracting(TaskStatus::state)
                    .containsOnly(RunState.COMPLETED);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_dag_that_fails_fails_the_call_and_one_that_is_called_is_cancelled_with_its_caller(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Dag<String, Integer> called = Dag.of("called", String.class, dag -> {
                var slow = dag.task("slow", t -> 1).waitFor(Duration.ofHours(1));
                return dag.after(slow).task("bad", (t, one) -> {
                    throw new TerminalException("no");
                });
            });
            Definition<String, Integer> caller = Definition.of(
                    "caller",
                    String.class,
                    Integer.class,
                    (ctx, id) -> ctx.startChild(Invocation.of(called, "x"), ChildOptions.childId(id))
                            .await());
            perdure.register(called).register(caller);
            assertThatThrownBy(
                            () -> perdure.start(Invocation.of(caller, "fails")).result())
                    .hasMessageContaining(
                            "1 task of DAG 'called' failed: 'bad': dev.perdure.error.TerminalException: no.");
            Run<Integer> cancelled = perdure.start(Invocation.of(caller, "cancelled"));
            perdure.settle();
            cancelled.cancel("not now");
            assertThatThrownBy(cancelled::result).hasMessageContaining("CANCELLED: not now");
            assertThatThrownBy(() -> perdure.run(RunId.of("cancelled"), TypeRef.of(Object.class))
                            .dag(called)
                            .result())
                    .hasMessageContaining("CANCELLED");
        }
    }

    @Test
    void a_run_takes_no_dag_without_a_result_of_its_own() {
        try (PerdureTest perdure = create(TestMode.THREE_WORKERS)) {
            Dag<String, Outputs> leaves = Dag.ofLeaves("leaves", String.class, dag -> dag.task("a", t -> 1));
            Definition<String, Boolean> all = Definition.of(
                    "all", String.class, Boolean.class, (ctx, input) -> ctx.call(Invocation.of(leaves, input)) == null);
            perdure.register(leaves).register(all);
            assertThatThrownBy(() -> perdure.start(Invocation.of(all, "x")).result())
                    .hasMessageContaining(
                            "The result of DAG 'leaves' is the outputs of all its leaves, and a run cannot wait for that.");
        }
    }

    private static <T> T noted(List<String> order, String what, T value) {
        order.add(what);
        return value;
    }

    @ParameterizedTest
    @EnumSource
    void a_task_sees_the_input_the_run_and_itself(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Dag<String, String> dag = Dag.of(
                    "single",
                    String.class,
                    builder -> builder.task(
                            "only",
                            t -> "%s %s %s %d %d"
                                    .formatted(
                                            t.input(),
                                            t.runId(),
                                            t.name(),
                                            t.attempt().number(),
                                            t.attempt().idempotencyKey().length())));
            perdure.register(dag);
            assertThat(perdure.start(dag, "in", id("g")).result()).isEqualTo("in g only 1 36");
        }
    }

    @ParameterizedTest
    @EnumSource
    void three_and_four_parents_and_an_order_without_output(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> order = new CopyOnWriteArrayList<>();
            Dag<String, String> dag = Dag.of("wide", String.class, builder -> {
                var a = builder.task("a", t -> "a");
                var b = builder.task("b", t -> 2);
                var c = builder.task("c", t -> 3L);
                var d = builder.task("d", t -> true);
                var three = builder.after(a, b, c)
                        .task("three", (t, one, two, third) -> noted(order, "three", one + two + third));
                var silent =
                        builder.task("silent", t -> noted(order, "silent", 0)).alsoAfter(three);
                return builder.after(a, b, c, d)
                        .task("four", (t, one, two, third, fourth) -> noted(order, "four", one + two + third + fourth))
                        .alsoAfter(silent);
            });
            perdure.register(dag);
            assertThat(perdure.start(dag, "x").result()).isEqualTo("a23true");
            assertThat(order).containsExactly("three", "silent", "four");
        }
    }

    @ParameterizedTest
    @EnumSource
    void two_separate_parts_give_the_outputs_of_their_leaves(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<DagTask<String>> tasks = new ArrayList<>();
            Dag<String, Outputs> dag = Dag.ofLeaves("parts", String.class, builder -> {
                var a = builder.task("a", t -> t.input().length());
                tasks.add(builder.after(a).task("b", (t, length) -> "b" + length));
                tasks.add(builder.task("alone", t -> "alone"));
            });
            perdure.register(dag);
            Outputs outputs = perdure.start(dag, "four").result();
            assertThat(outputs.tasks()).containsExactlyInAnyOrder("b", "alone");
            assertThat(outputs.get(tasks.get(0))).isEqualTo("b4");
            assertThat(outputs.get("alone", TypeRef.of(String.class))).isEqualTo("alone");
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_result_may_be_a_task_in_the_middle(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Dag<String, Integer> dag = Dag.of("middle", String.class, builder -> {
                var a = builder.task("a", t -> 1);
                builder.after(a).task("b", (t, one) -> 2);
                return a;
            });
            perdure.register(dag);
            assertThat(perdure.start(dag, "x").result()).isEqualTo(1);
        }
    }

    @Test
    void a_join_of_500_runs_once() {
        try (PerdureTest perdure = create(TestMode.THREE_WORKERS)) {
            AtomicInteger joins = new AtomicInteger();
            Dag<String, Integer> dag = Dag.of("wide", String.class, builder -> {
                List<DagTask<Integer>> parts = new ArrayList<>();
                for (int i = 0; i < 500; i++) {
                    int number = i;
                    parts.add(builder.task("part-" + i, t -> number));
                }
                return builder.after(parts).task("join", (t, numbers) -> {
                    joins.incrementAndGet();
                    return numbers.stream().mapToInt(Integer::intValue).sum();
                });
            });
            perdure.register(dag);
            assertThat(perdure.start(dag, "x").result()).isEqualTo(499 * 500 / 2);
            assertThat(joins).hasValue(1);
        }
    }

    @Test
    void a_chain_of_1000_comes_to_its_end() {
        try (PerdureTest perdure = create(TestMode.THREE_WORKERS)) {
            Dag<String, Integer> dag = Dag.of("deep", String.class, builder -> {
                DagTask<Integer> last = builder.task("link-0", t -> 1);
                for (int i = 1; i < 1_000; i++) {
                    last = builder.after(last).task("link-" + i, (t, number) -> number + 1);
                }
                return last;
            });
            perdure.register(dag);
            assertThat(perdure.start(dag, "x").result()).isEqualTo(1_000);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_task_may_be_a_durable_function(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicInteger bodies = new AtomicInteger();
            Dag<String, String> dag = Dag.of("durable", String.class, builder -> {
                var a = builder.task("a", t -> "a");
                return builder.after(a).workflow("sleeper", (ctx, t, first) -> {
                    int number = ctx.step("count", bodies::incrementAndGet);
                    ctx.sleep(Duration.ofHours(24));
                    return first + number + t.input() + " at " + ctx.now();
                });
            });
            perdure.register(dag);
            DagRun<String> run = perdure.start(dag, "x", id("g"));
            perdure.settle();
            assertThat(run.status().task("sleeper").orElseThrow().state()).isEqualTo(RunState.SUSPENDED);
            assertThat(run.result()).isEqualTo("a1x at 2030-01-02T00:00:00Z");
            assertThat(bodies).hasValue(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void starting_again_attaches_and_another_input_is_refused(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicInteger bodies = new AtomicInteger();
            Dag<String, Integer> dag =
                    Dag.of("once", String.class, builder -> builder.task("only", t -> bodies.incrementAndGet()));
            perdure.register(dag);
            assertThat(perdure.start(dag, "x", id("g")).result()).isEqualTo(1);
            assertThat(perdure.start(dag, "x", id("g")).result()).isEqualTo(1);
            assertThatThrownBy(() -> perdure.start(dag, "y", id("g"))).isInstanceOf(RunConflictException.class);
            assertThat(bodies).hasValue(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_task_that_no_worker_has_waits_visibly_for_one_that_has_it(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Dag<String, Integer> older = Dag.of("growing", String.class, builder -> builder.task("first", t -> 1));
            Dag<String, Integer> newer = Dag.of("growing", String.class, builder -> {
                var first = builder.task("first", t -> 1);
                return builder.after(first).task("second", (t, one) -> one + 1);
            });
            perdure.register(older);
            DagRun<Integer> run = perdure.start(newer, "x", id("g"));
            perdure.settle();
            DagStatus status = run.status();
            assertThat(status.task("second").orElseThrow().state()).isEqualTo(RunState.READY);
            assertThat(status.task("second").orElseThrow().reason().orElseThrow())
                    .contains("growing/second");
            perdure.deploy(newer);
            assertThat(run.result()).isEqualTo(2);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_run_keeps_the_dag_it_was_started_with(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Dag<String, Integer> older = Dag.of("changing", String.class, builder -> {
                var first = builder.task("first", t -> 1);
                return builder.after(first).task("last", (t, one) -> one + 1).waitFor(Duration.ofHours(1));
            });
            Dag<String, Integer> newer = Dag.of("changing", String.class, builder -> {
                var first = builder.task("first", t -> 100);
                var between = builder.after(first).task("between", (t, one) -> one + 10);
                return builder.after(first)
                        .task("last", (t, one) -> one + 1)
                        .alsoAfter(between)
                        .waitFor(Duration.ofHours(1));
            });
            perdure.register(older);
            DagRun<Integer> run = perdure.start(older, "x", id("g"));
            perdure.settle();
            perdure.deploy(newer);
            assertThat(run.result()).isEqualTo(2);
            assertThat(run.status().tasks()).extracting(task -> task.name()).containsExactly("first", "last");
        }
    }

    @ParameterizedTest
    @EnumSource
    void many_dags_at_once_all_end(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicInteger joins = new AtomicInteger();
            Dag<Integer, Integer> diamond = Dag.of("many", Integer.class, dag -> {
                var a = dag.task("a", t -> t.input());
                var b = dag.after(a).task("b", (t, number) -> number + 1);
                var c = dag.after(a).task("c", (t, number) -> number + 2);
                return dag.after(b, c).task("d", (t, one, two) -> one + two + 0 * joins.incrementAndGet());
            });
            perdure.register(diamond);
            List<Run<Integer>> runs = perdure.startAll(
                    IntStream.range(0, 50).boxed().toList(),
                    number -> Invocation.of(diamond, number),
                    number -> id("g-" + number));
            for (int i = 0; i < runs.size(); i++) {
                assertThat(runs.get(i).result()).isEqualTo(2 * i + 3);
            }
            assertThat(joins).hasValue(50);
        }
    }

    @ParameterizedTest
    @EnumSource
    void nothing_is_in_memory_while_dags_wait_in_the_middle(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Dag<String, Integer> dag = Dag.of("waiting", String.class, builder -> {
                var first = builder.task("first", t -> 1);
                return builder.after(first).task("second", (t, one) -> one + 1).waitFor(Duration.ofDays(1));
            });
            perdure.register(dag);
            perdure.settle();
            int idle = perdure.clockwork().threads();
            List<Run<Integer>> runs = perdure.startAll(
                    IntStream.range(0, 100).mapToObj(String::valueOf).toList(),
                    number -> Invocation.of(dag, number),
                    number -> id("g-" + number));
            perdure.settle();
            perdure.advance(Duration.ofSeconds(5));
            assertThat(perdure.clockwork().threads()).isEqualTo(idle);
            assertThat(runs).extracting(Run::state).containsOnly(RunState.PENDING);
            assertThat(runs.getLast().result()).isEqualTo(2);
        }
    }
}
