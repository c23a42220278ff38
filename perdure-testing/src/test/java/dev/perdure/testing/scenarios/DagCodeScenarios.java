package dev.perdure.testing.scenarios;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.RetryPolicy;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.TypeRef;
import dev.perdure.dag.Collected;
import dev.perdure.dag.Dag;
import dev.perdure.dag.DagRun;
import dev.perdure.dag.Outputs;
import dev.perdure.dag.TaskStatus;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every kind of code after every number of tasks and for each item, with every option in any order. */
abstract class DagCodeScenarios extends Scenarios {
    private static final TypeRef<List<Integer>> NUMBERS = new TypeRef<>() {};
    private static final Duration HOUR = Duration.ofHours(1);

    @ParameterizedTest
    @EnumSource
    void every_kind_of_code_after_every_number_of_tasks(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Set<String> ran = ConcurrentHashMap.newKeySet();
            Dag<Integer, Outputs> every = Dag.ofLeaves("every", Integer.class, dag -> {
                var a = dag.task("a", t -> t.input());
                var b = dag.workflow("b", (ctx, t) -> ctx.step("two", () -> t.input() + 1));
                var c = dag.run("c", t -> ran.add("c"));
                var d = dag.runWorkflow("d", (ctx, t) -> ctx.step("d", () -> ran.add("d")));
                dag.after(a).task("task1", (t, one) -> one);
                dag.after(a).workflow("workflow1", (ctx, t, one) -> ctx.step("it", () -> one));
                dag.after(a).run("run1", (t, one) -> ran.add("run1 " + one));
                dag.after(a)
                        .runWorkflow(
                                "runWorkflow1", (ctx, t, one) -> ctx.step("it", () -> ran.add("runWorkflow1 " + one)));
                dag.after(a, b).task("task2", (t, one, two) -> one + two);
                dag.after(a, b).workflow("workflow2", (ctx, t, one, two) -> ctx.step("it", () -> one + two));
                dag.after(a, b).run("run2", (t, one, two) -> ran.add("run2 " + one + two));
                dag.after(a, b)
                        .runWorkflow(
                                "runWorkflow2",
                                (ctx, t, one, two) -> ctx.step("it", () -> ran.add("runWorkflow2 " + one + two)));
                dag.after(a, b, c).task("task3", (t, one, two, none) -> one + two);
                dag.after(a, b, c).workflow("workflow3", (ctx, t, one, two, none) -> ctx.step("it", () -> one + two));
                dag.after(a, b, c).run("run3", (t, one, two, none) -> ran.add("run3 " + one + two + none));
                dag.after(a, b, c)
                        .runWorkflow(
                                "runWorkflow3",
                                (ctx, t, one, two, none) ->
                                        ctx.step("it", () -> ran.add("runWorkflow3 " + one + two + none)));
                dag.after(a, b, c, d).task("task4", (t, one, two, no, none) -> one + two);
                dag.after(a, b, c, d)
                        .workflow("workflow4", (ctx, t, one, two, no, none) -> ctx.step("it", () -> one + two));
                dag.after(a, b, c, d).run("run4", (t, one, two, no, none) -> ran.add("run4 " + one + two + no + none));
                dag.after(a, b, c, d)
                        .runWorkflow(
                                "runWorkflow4",
                                (ctx, t, one, two, no, none) ->
                                        ctx.step("it", () -> ran.add("runWorkflow4 " + one + two + no + none)));
                dag.after(List.of(a, b)).task("taskAll", (t, all) -> all.getFirst() + all.getLast());
                dag.after(List.of(a, b))
                        .workflow("workflowAll", (ctx, t, all) -> ctx.step("it", () -> all.getFirst() + all.getLast()));
                dag.after(List.of(a, b)).run("runAll", (t, all) -> ran.add("runAll " + all));
                dag.after(List.of(a, b))
                        .runWorkflow(
                                "runWorkflowAll",
                                (ctx, t, all) -> ctx.step("it", () -> ran.add("runWorkflowAll " + all)));
                var items = dag.task("items", t -> List.of(7, 8)).returning(NUMBERS);
                dag.forEach(items).task("taskEach", (t, item) -> t.input() + item);
                dag.forEach(items).workflow("workflowEach", (ctx, t, item) -> ctx.step("it", () -> t.input() + item));
                dag.forEach(items).run("runEach", (t, item) -> ran.add("runEach " + item));
                dag.forEach(items)
                        .runWorkflow(
                                "runWorkflowEach",
                                (ctx, t, item) -> ctx.step("it", () -> ran.add("runWorkflowEach " + item)));
            });
            perdure.register(every);
            Outputs outputs = perdure.start(every, 1).result();
            assertThat(outputs.get("task1", TypeRef.of(Integer.class))).isEqualTo(1);
            assertThat(outputs.get("workflow1", TypeRef.of(Integer.class))).isEqualTo(1);
            for (String code : List.of("task", "workflow")) {
                for (String parents : List.of("2", "3", "4", "All")) {
                    assertThat(outputs.get(code + parents, TypeRef.of(Integer.class)))
                            .isEqualTo(3);
                }
                assertThat(outputs.get(code + "Each", NUMBERS)).containsExactly(8, 9);
            }
            for (String code : List.of("run", "runWorkflow")) {
                for (String parents : List.of("1", "2", "3", "4", "All")) {
                    assertThat(outputs.get(code + parents, TypeRef.of(Void.class)))
                            .isNull();
                }
                assertThat(outputs.get(code + "Each", new TypeRef<List<@Nullable Void>>() {}))
                        .containsExactly(null, null);
                assertThat(ran)
                        .contains(
                                code + "1 1",
                                code + "2 12",
                                code + "3 12null",
                                code + "4 12nullnull",
                                code + "All [1, 2]",
                                code + "Each 7",
                                code + "Each 8");
            }
            assertThat(ran).contains("c", "d").hasSize(16);
        }
    }

    @ParameterizedTest
    @EnumSource
    void options_may_be_set_in_any_order(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Dag<Integer, List<Collected<Integer>>> any = Dag.of("any", Integer.class, dag -> {
                var items =
                        dag.task("items", t -> List.of(1, 2)).returning(NUMBERS).retry(2);
                var other = dag.run("other", t -> {}).priority(1).timeout(HOUR);
                var first = dag.forEach(items)
                        .task("first", (t, item) -> item + 1)
                        .retry(3)
                        .onlyIf((t, all) -> all.size() == 2)
                        .parallelism(5)
                        .cancelIf((t, all) -> all.isEmpty())
                        .returning(TypeRef.of(Integer.class))
                        .alsoAfter(other)
                        .timeout(HOUR)
                        .waitFor(Duration.ofMinutes(1))
                        .priority(2)
                        .waitForEither(HOUR, "never");
                return dag.forEach(first)
                        .task("second", (t, item) -> odd(item))
                        .returning(TypeRef.of(Integer.class))
                        .collect()
                        .retry(RetryPolicy.none())
                        .parallelism(1)
                        .timeout(HOUR)
                        .returning(TypeRef.of(Integer.class))
                        .onlyIf((t, all) -> all.contains(3));
            });
            perdure.register(any);
            assertThat(perdure.start(any, 0).result())
                    .containsExactly(
                            new Collected<>(null, "java.lang.IllegalArgumentException: 2 is not odd"),
                            new Collected<>(3, null));
        }
    }

    private static int odd(int number) {
        if (number % 2 == 0) {
            throw new IllegalArgumentException(number + " is not odd");
        }
        return number;
    }

    @ParameterizedTest
    @EnumSource
    void a_workflow_for_each_item_sleeps_and_steps(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Dag<Integer, List<String>> slow = Dag.of("slow", Integer.class, dag -> {
                var items = dag.task("items", t -> List.of(3, 1, 2)).returning(NUMBERS);
                return dag.forEach(items)
                        .workflow("wait", (ctx, t, item) -> {
                            ctx.sleep(HOUR.multipliedBy(item));
                            return ctx.step("say", () -> t.name() + " " + item);
                        })
                        .parallelism(2);
            });
            perdure.register(slow);
            assertThat(perdure.start(slow, 0).result()).containsExactly("wait 3", "wait 1", "wait 2");
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_timeout_of_a_workflow_for_each_item_is_that_of_one_item(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Dag<Integer, List<Collected<Integer>>> collecting = Dag.of("collecting", Integer.class, dag -> {
                var items = dag.task("items", t -> List.of(1, 3, 1)).returning(NUMBERS);
                return dag.forEach(items)
                        .workflow("wait", (ctx, t, item) -> {
                            ctx.sleep(HOUR.multipliedBy(item));
                            return item;
                        })
                        .parallelism(1)
                        .timeout(HOUR.multipliedBy(2))
                        .collect();
            });
            Dag<Integer, List<@Nullable Void>> failing = Dag.of("failing", Integer.class, dag -> {
                var items = dag.task("items", t -> List.of(1, 3)).returning(NUMBERS);
                return dag.forEach(items)
                        .runWorkflow("wait", (ctx, t, item) -> ctx.sleep(HOUR.multipliedBy(item)))
                        .timeout(HOUR.multipliedBy(2));
            });
            perdure.register(collecting, failing);
            List<Collected<Integer>> ends = perdure.start(collecting, 0).result();
            assertThat(ends).extracting(Collected::value).containsExactly(1, null, 1);
            assertThat(ends.get(1).error()).contains("DeadlineExceededException");
            DagRun<List<@Nullable Void>> failed = perdure.start(failing, 0);
            assertThatThrownBy(failed::result).hasMessageContaining("DeadlineExceededException");
            TaskStatus task = failed.status().task("wait").orElseThrow();
            assertThat(task.state()).isEqualTo(RunState.FAILED);
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_deadline_of_the_dag_reaches_the_workflows_for_each_item(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Dag<Integer, List<Integer>> late = Dag.of("late", Integer.class, dag -> {
                var items = dag.task("items", t -> List.of(1, 2)).returning(NUMBERS);
                return dag.forEach(items).workflow("wait", (ctx, t, item) -> {
                    ctx.sleep(HOUR.multipliedBy(item));
                    return item;
                });
            });
            perdure.register(late);
            DagRun<List<Integer>> run =
                    perdure.start(late, 0, StartOptions.id("g").timeout(Duration.ofMinutes(90)));
            assertThatThrownBy(run::result).hasMessageContaining("has passed its deadline");
            assertThat(run.status().task("wait").orElseThrow().state()).isEqualTo(RunState.CANCELLED);
        }
    }
}
