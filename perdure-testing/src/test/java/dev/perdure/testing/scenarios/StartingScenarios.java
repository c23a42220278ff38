package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.TypeRef;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.PayloadException;
import dev.perdure.error.RunConflictException;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

abstract class StartingScenarios extends Scenarios {
    public static class Greetings {
        final AtomicInteger greeted = new AtomicInteger();

        @Workflow("greet")
        public String greet(WorkflowContext ctx, String name) {
            return ctx.step("greet", () -> "Hello " + name + " " + greeted.incrementAndGet());
        }

        @Workflow("greet-somebody")
        public String greetSomebody(WorkflowContext ctx) {
            return "Hello you";
        }

        @Workflow("note")
        public void note(WorkflowContext ctx, String name) {
            ctx.step("note", greeted::incrementAndGet);
        }

        @Workflow("tick")
        public void tick(WorkflowContext ctx) {
            ctx.step("tick", greeted::incrementAndGet);
        }
    }

    @ParameterizedTest
    @EnumSource
    void every_shape_of_workflow_starts_by_method_reference(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Greetings greetings = new Greetings();
            perdure.register(greetings);
            assertThat(perdure.start(Greetings::greet, "Ada").result()).isEqualTo("Hello Ada 1");
            assertThat(perdure.start(Invocation.of(Greetings::greetSomebody)).result())
                    .isEqualTo("Hello you");
            perdure.start(Greetings::note, "Ada").result();
            perdure.start(Invocation.of(Greetings::tick)).result();
            assertThat(greetings.greeted).hasValue(3);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_workflow_starts_by_name(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(new Greetings());
            Run<String> run =
                    perdure.start(Invocation.of("greet", "Ada", TypeRef.of(String.class)), StartOptions.defaults());
            assertThat(run.result()).isEqualTo("Hello Ada 1");
            assertThat(perdure.run(run.id(), TypeRef.of(String.class)).result()).isEqualTo("Hello Ada 1");
            assertThat(run).hasToString("Run[" + run.id() + "]");
            Run<Integer> wrong = perdure.run(run.id(), TypeRef.of(Integer.class));
            assertThatThrownBy(wrong::result)
                    .isInstanceOf(PayloadException.class)
                    .hasMessageStartingWith("The result of run '%s' of 'greet' cannot be read.".formatted(run.id()))
                    .hasMessageContaining("java.lang.Integer")
                    .hasMessageEndingWith(". Ask for it with the type that it was written with.");
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_same_start_attaches_to_the_run_that_is_there(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Greetings greetings = new Greetings();
            perdure.register(greetings);
            Run<String> first = perdure.start(Greetings::greet, "Ada", id("g"));
            Run<String> second = perdure.start(Greetings::greet, "Ada", id("g"));
            assertThat(first.result()).isEqualTo("Hello Ada 1");
            assertThat(second.result()).isEqualTo("Hello Ada 1");
            assertThat(perdure.start(Greetings::greet, "Ada", id("g")).result()).isEqualTo("Hello Ada 1");
            assertThat(greetings.greeted).hasValue(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void another_input_or_workflow_under_the_same_id_is_a_conflict(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(new Greetings());
            Run<String> run = perdure.start(Greetings::greet, "Ada", id("g"));
            assertThatThrownBy(() -> perdure.start(Greetings::greet, "Bob", id("g")))
                    .isInstanceOf(RunConflictException.class)
                    .hasMessageContaining("Run 'g' of 'greet' exists already with another input");
            assertThatThrownBy(() -> perdure.start(Greetings::note, "Ada", id("g")))
                    .isInstanceOf(RunConflictException.class)
                    .hasMessageContaining("Run 'g' exists already and runs 'greet', not 'note'");
            assertThat(perdure.start(Greetings::greet, "Bob", id("g").attachToAnyInput())
                            .result())
                    .isEqualTo("Hello Ada 1");
            assertThat(run.result()).isEqualTo("Hello Ada 1");
        }
    }

    @ParameterizedTest
    @EnumSource
    void generated_ids_differ_and_later_ones_sort_later(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(new Greetings());
            RunId first = perdure.start(Greetings::greet, "Ada").id();
            perdure.advance(Duration.ofMillis(2));
            RunId second = perdure.start(Greetings::greet, "Ada").id();
            assertThat(first).isLessThan(second);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_batch_starts_every_run_once(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<Integer, Integer> flow =
                    Definition.of("square", Integer.class, Integer.class, (ctx, n) -> ctx.step("square", () -> n * n));
            perdure.register(flow);
            List<Integer> inputs = IntStream.range(0, 2_500).boxed().toList();
            List<Run<Integer>> runs = perdure.startAll(inputs, n -> Invocation.of(flow, n), n -> id("square-" + n));
            assertThat(runs).hasSize(2_500);
            assertThat(runs.stream().map(Run::result))
                    .isEqualTo(inputs.stream().map(n -> n * n).toList());
            assertThat(
                            perdure
                                    .startAll(
                                            inputs.subList(0, 10), n -> Invocation.of(flow, n), n -> id("square-" + n))
                                    .stream()
                                    .map(Run::result))
                    .startsWith(0, 1, 4, 9);
            assertThat(perdure.startAll(List.<Integer>of(), n -> Invocation.of(flow, n), n -> id("none")))
                    .isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_batch_may_name_one_id_twice(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Greetings greetings = new Greetings();
            perdure.register(greetings);
            List<Run<String>> runs = perdure.startAll(
                    List.of("Ada", "Ada"), name -> Invocation.of(Greetings::greet, name), name -> id("greet-" + name));
            assertThat(runs.stream().map(Run::result)).containsExactly("Hello Ada 1", "Hello Ada 1");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_conflict_in_a_batch_leaves_the_others_running(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(new Greetings());
            perdure.start(Greetings::greet, "Ada", id("greet-2")).result();
            assertThatThrownBy(() -> perdure.startAll(
                            List.of("1", "2", "3"),
                            name -> Invocation.of(Greetings::greet, name),
                            name -> id("greet-" + name)))
                    .isInstanceOf(RunConflictException.class)
                    .hasMessageContaining("'greet-2'");
            perdure.settle();
            assertThat(perdure.runs(RunFilter.all()).list())
                    .allSatisfy(run -> assertThat(run.state()).isEqualTo(RunState.COMPLETED));
            assertThat(perdure.runs(RunFilter.all()).list()).hasSize(3);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_client_without_a_worker_starts_waits_and_cancels(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("sleep", (ctx, in) -> {
                ctx.sleep(Duration.ofHours(1));
                return in;
            });
            perdure.register(flow);
            Perdure client = perdure.client();
            assertThat(client.start(Invocation.of(flow, "x"), id("one")).result())
                    .isEqualTo("x");
            Run<String> run = client.start(Invocation.of(flow, "x"), id("two"));
            perdure.settle();
            run.cancel("enough");
            assertThatThrownBy(run::result).hasMessage("Run 'two' is CANCELLED: enough");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_run_that_no_worker_can_run_waits_visibly_and_runs_when_a_worker_comes(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("future", (ctx, in) -> in + "!");
            perdure.register(new Greetings());
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("early"));
            perdure.advance(Duration.ofDays(1));
            assertThat(run.state()).isEqualTo(RunState.READY);
            assertThat(run.info().reason()).contains("No live worker has the definition 'future'.");
            perdure.deploy(flow);
            assertThat(run.result()).isEqualTo("x!");
        }
    }

    @ParameterizedTest
    @EnumSource
    void bad_input_is_a_typed_error_before_anything_is_written(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.maxPayloadBytes(1_000);
            perdure.register(new Greetings());
            assertThatThrownBy(() -> perdure.start(Greetings::greet, null))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("The input of workflow 'greet' is null.");
            assertThatThrownBy(() -> perdure.start(Greetings::greet, "x".repeat(1_000)))
                    .isInstanceOf(PayloadException.class)
                    .hasMessageContaining("it has 1002 bytes and the limit is 1000");
            assertThatThrownBy(() -> perdure.start(Greetings::greet, "x", id("i".repeat(10_000))))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("has 10000 characters; at most 200 are allowed");
            for (String name : new String[] {null, "", "n".repeat(101), "zero\u0000", "half\uDC00"}) {
                assertThatThrownBy(() -> perdure.start(Invocation.of(name, "x", TypeRef.of(String.class)), id("named")))
                        .isInstanceOf(InvalidRequestException.class)
                        .hasMessageContaining("definition name");
            }
            assertThat(perdure.runs(RunFilter.all()).list()).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_run_pinned_to_a_version_waits_for_a_worker_of_it(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(new Greetings());
            Run<String> run =
                    perdure.start(Greetings::greet, "Ada", id("pinned").version("v2"));
            perdure.settle();
            assertThat(run.state()).isEqualTo(RunState.READY);
            assertThat(run.info().reason()).contains("No live worker has the definition 'greet' in version 'v2'.");
        }
    }
}
