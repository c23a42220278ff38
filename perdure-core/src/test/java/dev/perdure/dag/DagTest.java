package dev.perdure.dag;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.TypeRef;
import dev.perdure.error.DefinitionException;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.internal.dag.model.DagDefinition;
import dev.perdure.internal.dag.model.TaskSpec;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** What a DAG is, and what is refused when it is defined, with the name of the task. */
class DagTest {
    private static Dag<String, Outputs> dag(Consumer<DagBuilder<String>> define) {
        return Dag.ofLeaves("shop", String.class, define);
    }

    private static List<TaskSpec> tasks(Dag<?, ?> dag) {
        return ((DagDefinition<?, ?>) dag).tasks();
    }

    private static void refused(Consumer<DagBuilder<String>> define, String message) {
        assertThatThrownBy(() -> dag(define))
                .isInstanceOf(DefinitionException.class)
                .hasMessage("DAG 'shop' cannot be defined: " + message);
    }

    private static Dag<String, Integer> diamond() {
        return Dag.of("diamond", String.class, dag -> {
            var top = dag.task("top", t -> t.input().length());
            var left = dag.after(top).task("left", (t, length) -> length + 1);
            var right = dag.after(top).task("right \"b\"", (t, length) -> length + 2);
            return dag.after(left, right).task("join", (t, one, two) -> one + two);
        });
    }

    @Test
    void types_are_carried_from_task_to_task() {
        TaskSpec join = tasks(diamond()).getLast();
        assertThat(join.parents()).containsExactly("left", "right \"b\"");
        assertThat(join.after()).containsExactly("left", "right \"b\"");
    }

    @Test
    void options_of_a_task_are_kept() {
        Dag<String, Outputs> dag = dag(builder -> {
            var first = builder.task("first", t -> 1)
                    .retry(3)
                    .timeout(Duration.ofSeconds(2))
                    .priority(7);
            builder.after(first)
                    .task("second", (t, one) -> 2)
                    .onlyIf((t, one) -> one > 0)
                    .cancelIf((t, one) -> one > 1)
                    .waitFor(Duration.ofHours(1))
                    .waitForEither(Duration.ofDays(1), "approved");
            builder.task("third", t -> 3).alsoAfter(first);
        });
        TaskSpec first = tasks(dag).getFirst();
        assertThat(first.step().retry().orElseThrow().attempts()).isEqualTo(3);
        assertThat(first.step().timeout()).contains(Duration.ofSeconds(2));
        assertThat(first.priority()).hasValue(7);
        TaskSpec.Gate gate = tasks(dag).get(1).gate();
        assertThat(gate.onlyIf()).hasSize(1);
        assertThat(gate.cancelIf()).hasSize(1);
        assertThat(gate.waits()).hasSize(2);
        TaskSpec third = tasks(dag).get(2);
        assertThat(third.parents()).isEmpty();
        assertThat(third.after()).containsExactly("first");
    }

    @Test
    void tasks_stand_after_all_they_come_after() {
        Dag<String, Outputs> dag = dag(builder -> {
            var early = builder.task("early", t -> 1);
            builder.task("late", t -> 2).alsoAfter();
            early.alsoAfter(builder.task("first", t -> 3));
        });
        assertThat(tasks(dag)).extracting(TaskSpec::name).containsExactly("late", "first", "early");
    }

    @Test
    void a_cycle_is_refused_with_its_path() {
        refused(
                dag -> {
                    dag.task("free", t -> 0);
                    var a = dag.task("a", t -> 1);
                    var b = dag.after(a).task("b", (t, one) -> 2);
                    var c = dag.after(b).task("c", (t, two) -> 3);
                    dag.after(c).task("behind", (t, three) -> 4);
                    a.alsoAfter(c);
                },
                "its tasks wait for each other in a cycle: a → b → c → a. Remove one of these dependencies.");
    }

    @Test
    void a_task_after_itself_is_a_cycle() {
        refused(
                dag -> {
                    var a = dag.task("a", t -> 1);
                    a.alsoAfter(a);
                },
                "its tasks wait for each other in a cycle: a → a. Remove one of these dependencies.");
    }

    @Test
    void a_task_of_another_dag_is_refused_by_name() {
        List<DagTask<Integer>> foreign = new ArrayList<>();
        var unused = Dag.of("other", String.class, dag -> {
            var task = dag.task("stranger", t -> 1);
            foreign.add(task);
            return task;
        });
        refused(
                dag -> dag.after(foreign.getFirst()).task("a", (t, one) -> 2),
                "after(…) was given 'stranger', which is a task of another definition, of DAG 'other'. Pass a task of this DAG.");
        assertThatThrownBy(() -> Dag.of("shop", String.class, dag -> {
                    dag.task("a", t -> 1);
                    return foreign.getFirst();
                }))
                .hasMessageContaining("its result is 'stranger', which is a task of another definition");
    }

    @Test
    void a_name_given_twice_is_refused() {
        refused(
                dag -> {
                    dag.task("a", t -> 1);
                    dag.task("a", t -> 2);
                },
                "two tasks are called 'a'. Give one of them another name.");
    }

    @Test
    void an_empty_dag_is_refused() {
        refused(dag -> {}, "it has no tasks. Define at least one with dag.task(…).");
    }

    @Test
    void names_that_cannot_be_stored_are_refused() {
        refused(
                dag -> dag.task("a/b", t -> 1),
                "the task name 'a/b' contains a '/', which separates the parts of a run id. Use another character.");
        refused(
                dag -> dag.task("onFailure", t -> 1),
                "a task cannot be called 'onFailure'. Use dag.onFailure(…), or give the task another name.");
        assertThatThrownBy(() -> dag(dag -> dag.task("x".repeat(96), t -> 1)))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("The task name 'xxx")
                .hasMessageContaining("at most 94 are allowed");
    }

    @Test
    void a_task_cannot_be_changed_once_its_dag_is_defined() {
        List<NewTask<Integer, ?>> kept = new ArrayList<>();
        var unused = dag(dag -> kept.add(dag.task("a", t -> 1)));
        assertThatThrownBy(() -> kept.getFirst().retry(2))
                .hasMessageContaining("'a' was changed after the DAG was defined.");
    }

    @Test
    void a_timeout_that_no_clock_can_keep_is_refused() {
        for (Duration limit : List.of(Duration.ZERO, Duration.ofSeconds(-1), Duration.ofDays(36_501))) {
            refused(
                    dag -> dag.task("a", t -> 1).timeout(limit),
                    "task 'a' has a timeout of %s; it must be longer than zero and at most 36500 days."
                            .formatted(limit));
        }
    }

    @Test
    void a_durable_function_has_no_attempts_of_its_own() {
        refused(
                dag -> dag.workflow("w", (ctx, t) -> t.input()).retry(2),
                "task 'w' is a workflow, which is not retried as a whole. Set the retry of its steps.");
    }

    @Test
    void a_workflow_for_each_item_is_not_retried_as_a_whole() {
        refused(
                dag -> dag.forEach(numbers(dag))
                        .workflow("w", (ctx, t, item) -> item)
                        .retry(2),
                "task 'w' is a workflow, which is not retried as a whole. Set the retry of its steps.");
    }

    private static DagTask<List<Integer>> numbers(DagBuilder<String> dag) {
        return dag.task("numbers", t -> List.of(1)).returning(new TypeRef<>() {});
    }

    @Test
    void a_task_that_is_null_is_refused() {
        DagTask<Integer> none = null;
        refused(dag -> dag.after(none), "after(…) was given null. Pass a task of this DAG.");
        refused(dag -> dag.after(dag.task("a", t -> 1), none), "after(…) was given null. Pass a task of this DAG.");
        refused(dag -> dag.forEach(null), "forEach(…) was given null. Pass a task of this DAG.");
        refused(dag -> dag.task("a", t -> 1).alsoAfter(none), "task 'a' comes after null. Pass a task of this DAG.");
    }

    @Test
    void a_task_is_not_used_as_it_was_before_it_collects() {
        refused(
                dag -> {
                    var each = dag.forEach(numbers(dag)).task("each", (t, item) -> item);
                    var unused = each.collect();
                    dag.after(each).task("sum", (t, all) -> all.size());
                },
                "after(…) was given 'each' as it was before collect(), which has changed its output. Use the task that collect() returns.");
    }

    @Test
    void a_parallelism_of_none_is_refused() {
        refused(
                dag -> dag.forEach(numbers(dag)).task("each", (t, item) -> item).parallelism(0),
                "task 'each' has a parallelism of 0; it must be at least 1.");
    }

    private static List<String> methods(Class<?> type) {
        return Arrays.stream(type.getDeclaredMethods())
                .filter(method -> Modifier.isPublic(method.getModifiers()) && !method.isSynthetic())
                .map(Method::getName)
                .sorted()
                .toList();
    }

    @Test
    void four_methods_define_a_task_whatever_it_comes_after() {
        List<String> four = List.of("run", "runWorkflow", "task", "workflow");
        assertThat(After.class.getDeclaredClasses())
                .hasSize(5)
                .allSatisfy(after -> assertThat(methods(after)).isEqualTo(four));
        assertThat(methods(ForEach.class)).isEqualTo(four);
        assertThat(methods(DagBuilder.class)).containsAll(four).hasSize(12);
    }

    @Test
    void every_option_returns_the_type_that_it_was_set_on() {
        for (Class<?> type : List.of(NewTask.class, NewForEach.class, NewCollectingForEach.class)) {
            assertThat(type.getDeclaredMethods())
                    .filteredOn(method -> Modifier.isPublic(method.getModifiers()) && !method.isSynthetic())
                    .filteredOn(method -> !method.getName().equals("collect"))
                    .isNotEmpty()
                    .allSatisfy(option -> assertThat(option.getReturnType()).isEqualTo(type));
        }
        assertThat(TaskOptions.class.getDeclaredMethods())
                .filteredOn(method -> Modifier.isPublic(method.getModifiers()))
                .filteredOn(method -> !method.getName().equals("name"))
                .hasSize(10)
                .allSatisfy(option -> assertThat(option.getGenericReturnType()).hasToString("S"));
    }

    @Test
    void a_definition_is_drawn_as_text_mermaid_and_graphviz() {
        assertThat(diamond().toText()).isEqualTo("""
            diamond
              top
              left       after top
              right "b"  after top
              join       after left, right "b"
            """);
        assertThat(diamond().toMermaid()).isEqualTo("""
            flowchart TD
                t1["top"]
                t2["left"]
                t3["right #quot;b#quot;"]
                t4["join"]
                t1 --> t2
                t1 --> t3
                t2 --> t4
                t3 --> t4
            """);
        assertThat(diamond().toGraphviz()).isEqualTo("""
            digraph "diamond" {
                t1 [label="top"];
                t2 [label="left"];
                t3 [label="right \\"b\\""];
                t4 [label="join"];
                t1 -> t2;
                t1 -> t3;
                t2 -> t4;
                t3 -> t4;
            }
            """);
    }

    @Test
    void a_definition_shows_what_handles_its_end() {
        Dag<String, Outputs> dag = dag(builder -> {
            var a = builder.task("a", t -> 1);
            builder.after(a).task("b", (t, one) -> one);
            builder.after(a).task("c", (t, one) -> one);
            builder.onFailure(t -> {});
            builder.onSuccess(t -> {});
        });
        assertThat(dag.toText()).isEqualTo("""
            shop
              a
              b          after a
              c          after a
              onFailure  after b, c  (if a task has failed)
              onSuccess  after b, c  (if none has failed or was cancelled)
            """);
        assertThat(dag.toMermaid()).contains("t4[\"onFailure\"]", "t2 --> t4", "t3 --> t5");
    }
}
