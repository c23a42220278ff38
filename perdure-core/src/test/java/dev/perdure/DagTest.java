package dev.perdure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.dag.Dag;
import dev.perdure.dag.DagBuilder;
import dev.perdure.dag.DagTask;
import dev.perdure.dag.NewTask;
import dev.perdure.dag.Outputs;
import dev.perdure.dag.TaskBody;
import dev.perdure.dag.TaskSpec;
import dev.perdure.error.DefinitionException;
import dev.perdure.error.InvalidRequestException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** What is a graph, and what is refused when it is defined, naming the culprit. */
class DagTest {
    private static Dag<String, Outputs> graph(Consumer<DagBuilder<String>> define) {
        return Dag.ofLeaves("shop", String.class, define);
    }

    private static void refused(Consumer<DagBuilder<String>> define, String message) {
        assertThatThrownBy(() -> graph(define))
                .isInstanceOf(DefinitionException.class)
                .hasMessage("Graph 'shop' cannot be defined: " + message);
    }

    private static Dag<String, Integer> diamond() {
        return Dag.of("diamond", String.class, dag -> {
            var top = dag.task("top", t -> t.input().length());
            var left = dag.task("left", top, (t, length) -> length + 1);
            var right = dag.task("right \"b\"", top, (t, length) -> length + 2);
            return dag.task("join", left, right, (t, one, two) -> one + two);
        });
    }

    @Test
    void types_are_carried_from_task_to_task() throws Exception {
        TaskSpec join = diamond().tasks().getLast();
        assertThat(join.parents()).containsExactly("left", "right \"b\"");
        assertThat(join.work())
                .isInstanceOfSatisfying(
                        TaskSpec.Plain.class, plain -> assertThat(plain.body()).isInstanceOf(TaskBody.Of2.class));
        assertThat(diamond().result().orElseThrow().name()).isEqualTo("join");
    }

    @Test
    void options_of_a_task_are_kept() {
        Dag<String, Outputs> dag = graph(builder -> {
            var first = builder.task("first", t -> 1)
                    .retry(3)
                    .timeout(Duration.ofSeconds(2))
                    .priority(7);
            builder.task("second", first, (t, one) -> 2)
                    .onlyIf((t, one) -> one > 0)
                    .cancelIf((t, one) -> one > 1)
                    .waitFor(Duration.ofHours(1))
                    .waitForEither(Duration.ofDays(1), "approved");
            builder.task("third", t -> 3).after(first);
        });
        TaskSpec first = dag.tasks().getFirst();
        assertThat(first.step().retry().orElseThrow().attempts()).isEqualTo(3);
        assertThat(first.step().timeout()).contains(Duration.ofSeconds(2));
        assertThat(first.priority()).hasValue(7);
        TaskSpec.Gate gate = dag.tasks().get(1).gate();
        assertThat(gate.onlyIf()).hasSize(1);
        assertThat(gate.cancelIf()).hasSize(1);
        assertThat(gate.waits()).hasSize(2);
        TaskSpec third = dag.tasks().get(2);
        assertThat(third.parents()).isEmpty();
        assertThat(third.after()).containsExactly("first");
    }

    @Test
    void tasks_stand_after_all_they_come_after() {
        Dag<String, Outputs> dag = graph(builder -> {
            var early = builder.task("early", t -> 1);
            builder.task("late", t -> 2).after();
            early.after(builder.task("first", t -> 3));
        });
        assertThat(dag.tasks()).extracting(TaskSpec::name).containsExactly("late", "first", "early");
    }

    @Test
    void a_circle_is_refused_with_its_path() {
        refused(
                dag -> {
                    dag.task("free", t -> 0);
                    var a = dag.task("a", t -> 1);
                    var b = dag.task("b", a, (t, one) -> 2);
                    var c = dag.task("c", b, (t, two) -> 3);
                    dag.task("behind", c, (t, three) -> 4);
                    a.after(c);
                },
                "its tasks wait for each other in a circle: a → b → c → a. Take one of these dependencies out.");
    }

    @Test
    void a_task_after_itself_is_a_circle() {
        refused(
                dag -> {
                    var a = dag.task("a", t -> 1);
                    a.after(a);
                },
                "its tasks wait for each other in a circle: a → a. Take one of these dependencies out.");
    }

    @Test
    void a_task_of_another_graph_is_refused_by_name() {
        List<DagTask<Integer>> foreign = new ArrayList<>();
        var unused = Dag.of("other", String.class, dag -> {
            var task = dag.task("stranger", t -> 1);
            foreign.add(task);
            return task;
        });
        refused(
                dag -> dag.task("a", foreign.getFirst(), (t, one) -> 2),
                "task 'a' comes after 'stranger', which is a task of another definition, of graph 'other'. Give a task of this one.");
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
    void an_empty_graph_is_refused() {
        refused(dag -> {}, "it has no tasks. Define at least one with dag.task(…).");
    }

    @Test
    void names_that_cannot_be_stored_are_refused() {
        refused(
                dag -> dag.task("a/b", t -> 1),
                "the task name 'a/b' holds a '/', which parts the names of runs. Use another character.");
        refused(
                dag -> dag.task("onFailure", t -> 1),
                "a task cannot be called 'onFailure'. Write dag.onFailure(…), or give it another name.");
        assertThatThrownBy(() -> graph(dag -> dag.task("x".repeat(96), t -> 1)))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("The task name 'xxx")
                .hasMessageContaining("at most 94 are allowed");
    }

    @Test
    void a_task_cannot_be_changed_once_its_graph_is_defined() {
        List<NewTask<Integer, ?>> kept = new ArrayList<>();
        var unused = graph(dag -> kept.add(dag.task("a", t -> 1)));
        assertThatThrownBy(() -> kept.getFirst().retry(2))
                .hasMessageContaining("'a' was changed after the graph was defined.");
    }

    @Test
    void a_durable_function_has_no_attempts_of_its_own() {
        refused(
                dag -> dag.workflow("w", (ctx, t) -> t.input()).retry(2),
                "task 'w' is a durable function, which has no retry of its own. Give it to the steps inside.");
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
        Dag<String, Outputs> dag = graph(builder -> {
            var a = builder.task("a", t -> 1);
            builder.task("b", a, (t, one) -> one);
            builder.task("c", a, (t, one) -> one);
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
