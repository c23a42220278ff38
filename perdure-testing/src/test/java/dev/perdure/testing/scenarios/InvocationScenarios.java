package dev.perdure.testing.scenarios;

import static dev.perdure.ChildOptions.childId;
import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Outbox;
import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.TypeRef;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.dag.Dag;
import dev.perdure.dag.Outputs;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.spi.change.Change;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Everything that can run, started in every way there is. */
abstract class InvocationScenarios extends Scenarios {
    /** Workflow methods with and without input and result. */
    public static final class Methods {
        @Workflow("function")
        public String function(WorkflowContext ctx, String input) {
            return "function of " + input;
        }

        @Workflow("supplier")
        public String supplier(WorkflowContext ctx) {
            return "supplier";
        }

        @Workflow("consumer")
        public void consumer(WorkflowContext ctx, String input) {}

        @Workflow("action")
        public void action(WorkflowContext ctx) {}
    }

    private static final Definition<String, String> VALUE = workflow("value", (ctx, in) -> "value of " + in);
    private static final Definition<String, @Nullable Void> VOID_VALUE =
            Definition.of("void-value", String.class, (ctx, in) -> {});
    private static final Dag<String, String> ONE_TASK =
            Dag.of("dag", String.class, dag -> dag.task("only", t -> "dag of " + t.input()));
    private static final Dag<String, Outputs> LEAVES =
            Dag.ofLeaves("leaves", String.class, dag -> dag.task("only", t -> "leaf of " + t.input()));

    /** What can run. */
    private enum What {
        FUNCTION("function", "function of x", Invocation.of(Methods::function, "x")),
        SUPPLIER("supplier", "supplier", Invocation.of(Methods::supplier)),
        CONSUMER("consumer", null, Invocation.of(Methods::consumer, "x")),
        ACTION("action", null, Invocation.of(Methods::action)),
        DEFINITION("value", "value of x", Invocation.of(VALUE, "x")),
        VOID_DEFINITION("void-value", null, Invocation.of(VOID_VALUE, "x")),
        DAG("dag", "dag of x", Invocation.of(ONE_TASK, "x")),
        NAME("value", "value of x", Invocation.of("value", "x", TypeRef.of(String.class))),
        DAG_NAME("dag", "dag of x", Invocation.of("dag", "x", TypeRef.of(String.class))),
        VOID_NAME("consumer", null, Invocation.of("consumer", "x", TypeRef.of(Void.class)));

        final String definition;
        final @Nullable String result;
        final Invocation<?> invocation;

        What(String definition, @Nullable String result, Invocation<?> invocation) {
            this.definition = definition;
            this.result = result;
            this.invocation = invocation;
        }
    }

    private static void register(PerdureTest perdure) {
        perdure.register(new Methods(), VALUE, VOID_VALUE, ONE_TASK, LEAVES);
    }

    @ParameterizedTest
    @EnumSource
    void everything_can_be_started_alone_and_with_others(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            register(perdure);
            for (What what : What.values()) {
                assertThat((Object) perdure.start(what.invocation).result())
                        .as("%s", what)
                        .isEqualTo(what.result);
                Run<?> run = perdure.start(what.invocation, id("start-" + what));
                assertThat((Object) run.result()).as("%s", what).isEqualTo(what.result);
                assertThat(run.id()).isEqualTo(RunId.of("start-" + what));
                assertThat(run.info().definition()).isEqualTo(what.definition);
            }
            List<What> all = Arrays.asList(What.values());
            List<Run<Object>> runs = perdure.startAll(all, InvocationScenarios::any, what -> id("all-" + what));
            assertThat(runs.stream().map(Run::result))
                    .isEqualTo(all.stream().map(what -> (Object) what.result).toList());
        }
    }

    @SuppressWarnings("unchecked") // what a run returns is an Object
    private static Invocation<Object> any(What what) {
        return (Invocation<Object>) what.invocation;
    }

    @ParameterizedTest
    @EnumSource
    void everything_can_be_a_child_and_can_be_spawned(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            register(perdure);
            Definition<String, String> parent = workflow("parent", (ctx, in) -> {
                What what = What.valueOf(in);
                List<@Nullable Object> results = new ArrayList<>();
                results.add(ctx.call(what.invocation));
                results.add(ctx.startChild(what.invocation).await());
                results.add(
                        ctx.startChild(what.invocation, childId("child-" + in)).await());
                ctx.spawn(what.invocation, id("spawned-" + in));
                return results.stream().map(Objects::toString).toList().toString();
            });
            perdure.register(parent);
            for (What what : What.values()) {
                assertThat(perdure.start(Invocation.of(parent, what.name())).result())
                        .isEqualTo(List.of("" + what.result, "" + what.result, "" + what.result)
                                .toString());
                Run<?> spawned = perdure.run(RunId.of("spawned-" + what), TypeRef.of(Object.class));
                assertThat(spawned.info().definition()).isEqualTo(what.definition);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void short_forms_do_the_same(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            register(perdure);
            perdure.register(workflow("caller", (ctx, in) -> {
                ctx.call(Methods::consumer, in);
                return ctx.call(Methods::function, in);
            }));
            assertThat(perdure.start(Methods::function, "x").result()).isEqualTo("function of x");
            assertThat(perdure.start(Methods::function, "x", id("f")).id()).isEqualTo(RunId.of("f"));
            assertThat(perdure.start(Methods::consumer, "x").result()).isNull();
            assertThat(perdure.start(Methods::consumer, "x", id("c")).id()).isEqualTo(RunId.of("c"));
            assertThat(perdure.start(ONE_TASK, "x").status().tasks()).hasSize(1);
            assertThat(perdure.start(ONE_TASK, "x", id("g")).result()).isEqualTo("dag of x");
            assertThat(perdure.start(Invocation.of("caller", "x", TypeRef.of(String.class)))
                            .result())
                    .isEqualTo("function of x");
        }
    }

    @Test
    void everything_can_be_started_through_an_outbox() {
        try (PerdureTest perdure = create(TestMode.THREE_WORKERS)) {
            register(perdure);
            List<Change> changes = new ArrayList<>();
            Outbox outbox = perdure.outbox(changes::addAll);
            for (What what : What.values()) {
                assertThat(outbox.start(what.invocation, id("out-" + what))).isEqualTo(RunId.of("out-" + what));
            }
            outbox.startAll(Arrays.asList(What.values()), what -> what.invocation, what -> id("all-" + what));
            outbox.start(Methods::function, "x", id("f"));
            outbox.start(Methods::consumer, "x", id("c"));

            List<String> started = changes.stream()
                    .map(change -> (Change.Start) change)
                    .map(start -> start.run().definition() + " " + start.tasks().size())
                    .toList();
            List<String> each = Arrays.stream(What.values())
                    .map(what -> what.definition + (what == What.DAG || what == What.DAG_NAME ? " 1" : " 0"))
                    .toList();
            List<String> expected = new ArrayList<>(each);
            expected.addAll(each);
            expected.addAll(List.of("function 0", "consumer 0"));
            assertThat(started).isEqualTo(expected);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_dag_that_gives_its_leaves_can_be_started_and_spawned_but_not_awaited_by_a_run(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            register(perdure);
            Definition<String, String> parent = workflow("parent", (ctx, in) -> {
                ctx.spawn(Invocation.of(LEAVES, in), id("spawned"));
                assertThatThrownBy(() -> ctx.call(Invocation.of(LEAVES, in)))
                        .isInstanceOf(InvalidRequestException.class)
                        .hasMessageContaining("The result of DAG 'leaves' is the outputs of all its leaves");
                return "spawned";
            });
            perdure.register(parent);
            Run<Outputs> leaves = perdure.start(Invocation.of(LEAVES, "x"));
            assertThat(leaves.result().get("only", TypeRef.of(String.class))).isEqualTo("leaf of x");
            assertThat(leaves.dag(LEAVES).status().tasks()).hasSize(1);
            assertThat(perdure.start(Invocation.of(parent, "y")).result()).isEqualTo("spawned");
            Run<?> spawned = perdure.run(RunId.of("spawned"), TypeRef.of(Object.class));
            assertThat(spawned.dag(LEAVES).result().get("only", TypeRef.of(String.class)))
                    .isEqualTo("leaf of y");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_dag_that_gives_its_leaves_can_be_started_by_its_name(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            register(perdure);
            Definition<String, String> parent = workflow("parent", (ctx, in) -> {
                assertThatThrownBy(() -> ctx.call(Invocation.of("leaves", in, TypeRef.of(Object.class))))
                        .isInstanceOf(InvalidRequestException.class)
                        .hasMessageContaining("The result of DAG 'leaves' is the outputs of all its leaves");
                return "refused";
            });
            perdure.register(parent);
            Run<Outputs> leaves = perdure.start(Invocation.of("leaves", "x", TypeRef.of(Outputs.class)));
            assertThat(leaves.result().get("only", TypeRef.of(String.class))).isEqualTo("leaf of x");
            assertThat(perdure.start(Invocation.of(parent, "y")).result()).isEqualTo("refused");
        }
    }

    @Test
    void an_invocation_that_is_null_is_refused() {
        try (PerdureTest perdure = create(TestMode.THREE_WORKERS)) {
            assertThatThrownBy(() -> perdure.start((Invocation<String>) null))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessage("The invocation is null. Make it with Invocation.of(…).");
        }
    }
}
