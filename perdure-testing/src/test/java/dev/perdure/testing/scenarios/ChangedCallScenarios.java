package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.DurableFuture;
import dev.perdure.HistoryEvent;
import dev.perdure.Invocation;
import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.Topic;
import dev.perdure.WorkflowContext;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Code that makes another call, or another wait, than the recorded one. */
abstract class ChangedCallScenarios extends Scenarios {
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Topic<String> TOPIC = Topic.of("a", String.class);
    private static final Topic<String> OTHER_TOPIC = Topic.of("b", String.class);
    private static final RunId OTHER = RunId.of("other");
    private static final Definition<String, String> CHILD = workflow("child", (ctx, in) -> in);
    private static final Definition<String, String> OTHER_CHILD = workflow("other-child", (ctx, in) -> in);

    /** Every kind of call that records an entry at its own position, by its name in messages. */
    private static final Map<String, Consumer<WorkflowContext>> KINDS = kinds();

    private static List<HistoryEvent> journal(Run<?> run) {
        return run.history().stream().filter(event -> event.position() > 0).toList();
    }

    private static Map<String, Consumer<WorkflowContext>> kinds() {
        Map<String, Consumer<WorkflowContext>> kinds = new LinkedHashMap<>();
        kinds.put("step 'a'", ctx -> ctx.step("a", () -> "A"));
        kinds.put("sleep of PT0S", ctx -> ctx.sleep(Duration.ZERO));
        kinds.put("now()", WorkflowContext::now);
        kinds.put("timer of PT0S", ctx -> ctx.timer(Duration.ZERO).await());
        kinds.put("timer of PT-1S", ctx -> ctx.timer(Duration.ofSeconds(-1)).await());
        kinds.put("child 'child'", ctx -> ctx.startChild(Invocation.of(CHILD, "x")));
        kinds.put("child 'other-child'", ctx -> ctx.startChild(Invocation.of(OTHER_CHILD, "x")));
        kinds.put("receive on topic 'a'", ctx -> ctx.receive(TOPIC).await());
        kinds.put("receive on topic 'b'", ctx -> ctx.receive(OTHER_TOPIC).await());
        kinds.put("promise 'a'", ctx -> ctx.promise(TOPIC).await());
        kinds.put("promise 'b'", ctx -> ctx.promise(OTHER_TOPIC).await());
        kinds.put("awakeable()", ctx -> ctx.awakeable(String.class));
        kinds.put("event 'a'", ctx -> ctx.event(TOPIC));
        kinds.put("event 'a/key'", ctx -> ctx.event(TOPIC.key("key")));
        kinds.put("step 'emit 'a''", ctx -> ctx.emit(TOPIC, "x"));
        kinds.put("step 'emit 'a/key''", ctx -> ctx.emit(TOPIC.key("key"), "x"));
        kinds.put("send on topic 'a' to 'other'", ctx -> ctx.send(OTHER, TOPIC, "x"));
        kinds.put("send on topic 'b' to 'other'", ctx -> ctx.send(OTHER, OTHER_TOPIC, "x"));
        kinds.put("send on topic 'a' to 'third'", ctx -> ctx.send(RunId.of("third"), TOPIC, "x"));
        kinds.put(
                "resolve promise 'a' of 'other'",
                ctx -> ctx.promise(OTHER, TOPIC).resolve("x"));
        kinds.put(
                "reject promise 'a' of 'other'",
                ctx -> ctx.promise(OTHER, TOPIC).reject("x"));
        kinds.put("publish 'a'", ctx -> ctx.publish(TOPIC, "x"));
        kinds.put("publish 'b'", ctx -> ctx.publish(OTHER_TOPIC, "x"));
        return kinds;
    }

    private static Object[] code(Consumer<WorkflowContext> call) {
        Definition<String, String> flow = workflow("flow", (ctx, in) -> {
            call.accept(ctx);
            return ctx.promise(Topic.of("go", String.class)).await();
        });
        return new Object[] {flow, CHILD, OTHER_CHILD};
    }

    static Stream<Arguments> kindsInEveryMode() {
        return Stream.of(TestMode.values())
                .flatMap(mode -> kinds().keySet().stream().map(kind -> Arguments.of(mode, kind)));
    }

    @ParameterizedTest
    @MethodSource("kindsInEveryMode")
    void every_other_kind_of_call_in_a_calls_place_is_found_out_and_changes_nothing(TestMode mode, String recorded) {
        try (PerdureTest perdure = create(mode)) {
            Object[] old = code(KINDS.get(recorded));
            perdure.register(old);
            @SuppressWarnings("unchecked")
            Definition<String, String> flow = (Definition<String, String>) old[0];
            Run<String> run = perdure.start(
                    Invocation.of(flow, "x"),
                    id("run-7").message(TOPIC, "x").message(OTHER_TOPIC, "x").message(TOPIC, "left over"));
            run.promise(TOPIC).resolve("x");
            run.promise(OTHER_TOPIC).resolve("x");
            perdure.settle();
            run.pause("deploy");
            perdure.settle();
            List<HistoryEvent> journal = journal(run);
            KINDS.forEach((asked, call) -> {
                if (!asked.equals(recorded)) {
                    perdure.deploy(code(call));
                    run.resume();
                    perdure.settle();
                    assertThat(run.state()).isEqualTo(RunState.PAUSED);
                    assertThat(run.info().reason().orElseThrow())
                            .contains("run 'run-7' at position 1: recorded is %s, the code asked for %s."
                                    .formatted(recorded, asked));
                    assertThat(journal(run)).isEqualTo(journal);
                }
            });
            perdure.deploy(old);
            run.resume();
            run.promise(Topic.of("go", String.class)).resolve("went");
            assertThat(run.result()).isEqualTo("went");
        }
    }

    /** Unanswered waits, by their names in messages. */
    private static final Map<String, Function<WorkflowContext, String>> WAITS = Map.of(
            "receive on topic 'a'", ctx -> ctx.receive(TOPIC).await(),
            "receive on topic 'b'", ctx -> ctx.receive(OTHER_TOPIC).await(),
            "promise 'a'", ctx -> ctx.promise(TOPIC).await(),
            "promise 'b'", ctx -> ctx.promise(OTHER_TOPIC).await(),
            "step 'a'", ctx -> ctx.step("a", () -> "A"));

    private static Definition<String, String> waiting(Function<WorkflowContext, String> wait) {
        return workflow("waiting", (ctx, in) -> wait.apply(ctx));
    }

    static Stream<Arguments> waitsInEveryMode() {
        return Stream.of(TestMode.values())
                .flatMap(
                        mode -> Stream.of("receive on topic 'a'", "promise 'a'").map(wait -> Arguments.of(mode, wait)));
    }

    @ParameterizedTest
    @MethodSource("waitsInEveryMode")
    void another_wait_in_a_waits_place_is_found_out_before_it_is_answered(TestMode mode, String recorded) {
        for (boolean suspends : List.of(true, false)) {
            try (PerdureTest perdure = create(mode)) {
                Definition<String, String> old = waiting(WAITS.get(recorded));
                perdure.register(old);
                Run<String> run = perdure.start(Invocation.of(old, "x"), id("run-7"));
                perdure.settle();
                if (suspends) {
                    perdure.advance(HOUR);
                    assertThat(run.state()).isEqualTo(RunState.SUSPENDED);
                }
                run.pause("deploy");
                perdure.settle();
                List<HistoryEvent> journal = journal(run);
                WAITS.forEach((asked, call) -> {
                    if (!asked.equals(recorded)) {
                        perdure.deploy(waiting(call));
                        run.resume();
                        perdure.settle();
                        assertThat(run.state()).isEqualTo(RunState.PAUSED);
                        assertThat(run.info().reason().orElseThrow())
                                .contains("run 'run-7' at position 1: recorded is %s, the code asked for %s."
                                        .formatted(recorded, asked));
                        assertThat(journal(run)).isEqualTo(journal);
                    }
                });
                perdure.deploy(old);
                run.resume();
                perdure.settle();
                if (recorded.startsWith("promise")) {
                    run.promise(TOPIC).resolve("went");
                } else {
                    run.send(TOPIC, "went");
                }
                assertThat(run.result()).isEqualTo("went");
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_message_that_meets_code_that_waits_for_another_topic_pauses_the_run_and_is_kept(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Function<WorkflowContext, String> either =
                    ctx -> DurableFuture.race(List.of(ctx.promise(OTHER_TOPIC), ctx.receive(TOPIC)))
                            .orTimeout(HOUR.multipliedBy(9))
                            .await();
            Definition<String, String> old = waiting(either);
            perdure.register(old);
            Run<String> run = perdure.start(Invocation.of(old, "x"), id("run-7"));
            perdure.settle();
            perdure.advance(HOUR);
            perdure.deploy(
                    waiting(ctx -> DurableFuture.race(List.of(ctx.promise(OTHER_TOPIC), ctx.receive(OTHER_TOPIC)))
                            .await()));
            run.send(TOPIC, "went");
            perdure.settle();
            assertThat(run.state()).isEqualTo(RunState.PAUSED);
            assertThat(run.info().reason().orElseThrow())
                    .contains("at position 2: recorded is receive on topic 'a', the code asked for receive on topic"
                            + " 'b'.");
            perdure.deploy(old);
            run.resume();
            assertThat(run.result()).isEqualTo("went");
        }
    }

    @ParameterizedTest
    @EnumSource
    void another_input_of_a_child_is_found_out(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> child = workflow("sleeper", (ctx, in) -> {
                ctx.sleep(HOUR);
                return in;
            });
            Definition<String, String> old = waiting(ctx -> ctx.call(Invocation.of(child, "one")));
            perdure.register(old, child);
            Run<String> run = perdure.start(Invocation.of(old, "x"), id("run-7"));
            perdure.settle();
            perdure.deploy(waiting(ctx -> ctx.call(Invocation.of(child, "two"))), child);
            perdure.advance(HOUR);
            assertThat(run.state()).isEqualTo(RunState.PAUSED);
            assertThat(run.info().reason().orElseThrow())
                    .contains("at position 1: recorded is child 'sleeper' with another input, the code asked for child"
                            + " 'sleeper'.");
            perdure.deploy(old, child);
            run.resume();
            assertThat(run.result()).isEqualTo("one");
        }
    }

    @ParameterizedTest
    @EnumSource
    void another_way_to_join_is_found_out(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Function<WorkflowContext, List<DurableFuture<Void>>> timers =
                    ctx -> List.of(ctx.timer(Duration.ZERO), ctx.timer(HOUR));
            Object[] old = code(ctx -> DurableFuture.any(timers.apply(ctx)).await());
            perdure.register(old);
            @SuppressWarnings("unchecked")
            Definition<String, String> flow = (Definition<String, String>) old[0];
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("run-7"));
            perdure.settle();
            run.pause("deploy");
            Map<String, Consumer<WorkflowContext>> changes = Map.of(
                    "race of 2", ctx -> DurableFuture.race(timers.apply(ctx)).await(),
                    "all of 2", ctx -> DurableFuture.all(timers.apply(ctx)).await(),
                    "any of 1",
                            ctx -> DurableFuture.any(timers.apply(ctx).getFirst())
                                    .await(),
                    "timeout of 2",
                            ctx -> ctx.timer(Duration.ZERO).orTimeout(HOUR).await());
            changes.forEach((asked, call) -> {
                perdure.deploy(code(call));
                run.resume();
                perdure.settle();
                assertThat(run.info().reason().orElseThrow())
                        .contains("at position 3: recorded is any of 2, the code asked for " + asked + ".");
            });
            perdure.deploy(old);
            run.resume();
            run.promise(Topic.of("go", String.class)).resolve("went");
            assertThat(run.result()).isEqualTo("went");
        }
    }
}
