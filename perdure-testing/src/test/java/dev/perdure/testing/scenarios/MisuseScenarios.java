package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static dev.perdure.StepOptions.retry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.DurableFuture;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.StartOptions;
import dev.perdure.StepOptions;
import dev.perdure.Topic;
import dev.perdure.TypeRef;
import dev.perdure.WorkflowContext;
import dev.perdure.WorkflowMethod;
import dev.perdure.dag.Dag;
import dev.perdure.error.ContextMisuseException;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.PayloadException;
import dev.perdure.error.RunEndedException;
import dev.perdure.error.StepFailedException;
import dev.perdure.error.UnknownRunException;
import dev.perdure.error.UnknownTokenException;
import dev.perdure.memory.MemoryStore;
import dev.perdure.object.Handler;
import dev.perdure.object.ObjectContext;
import dev.perdure.object.ObjectMethod;
import dev.perdure.object.VirtualObject;
import dev.perdure.spi.Store;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

abstract class MisuseScenarios extends Scenarios {
    private static final Topic<String> TOPIC = Topic.of("topic", String.class);
    private static final RunId OTHER = RunId.of("other");
    private static final Definition<String, String> CHILD = workflow("child", (ctx, in) -> in);

    @VirtualObject("tally")
    public static class Tally {
        @Handler
        public int add(ObjectContext ctx, Integer number) {
            return number;
        }
    }

    private static final Map<String, Consumer<WorkflowContext>> CALLS = calls();

    private static Map<String, Consumer<WorkflowContext>> calls() {
        Map<String, Consumer<WorkflowContext>> calls = new LinkedHashMap<>();
        calls.put("step", ctx -> ctx.step("inner", () -> {}));
        calls.put("sleep", ctx -> ctx.sleep(Duration.ofSeconds(1)));
        calls.put("now", WorkflowContext::now);
        calls.put("uuid", WorkflowContext::uuid);
        calls.put("random", WorkflowContext::random);
        calls.put("patched", ctx -> ctx.patched("p"));
        calls.put("stepAsync", ctx -> ctx.stepAsync("inner", () -> {}));
        calls.put("timer", ctx -> ctx.timer(Duration.ofSeconds(1)));
        calls.put("startChild", ctx -> ctx.startChild(Invocation.of(CHILD, "x")));
        calls.put("call", ctx -> ctx.object(Tally.class, "x").call(Tally::add, 1));
        calls.put("begin", ctx -> ctx.object(Tally.class, "x").begin(Tally::add, 1));
        calls.put("spawn", ctx -> ctx.spawn(Invocation.of(CHILD, "x"), StartOptions.defaults()));
        calls.put("receive", ctx -> ctx.receive(TOPIC).await(Duration.ofSeconds(1)));
        calls.put("send", ctx -> ctx.send(OTHER, TOPIC, "x"));
        calls.put("promise", ctx -> ctx.promise(TOPIC));
        calls.put("resolve", ctx -> ctx.promise(OTHER, TOPIC).resolve("x"));
        calls.put("reject", ctx -> ctx.promise(OTHER, TOPIC).reject("x"));
        calls.put("awakeable", ctx -> ctx.awakeable(String.class));
        calls.put("event", ctx -> ctx.event(TOPIC));
        calls.put("emit", ctx -> ctx.emit(TOPIC, "x"));
        calls.put("publish", ctx -> ctx.publish(TOPIC, "x"));
        calls.put("continueAsNew", ctx -> ctx.continueAsNew("x"));
        return calls;
    }

    @ParameterizedTest
    @EnumSource
    void the_context_is_refused_inside_a_body(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("inside", (ctx, in) -> {
                try {
                    ctx.step("outer", () -> CALLS.get(in).accept(ctx));
                    return "?";
                } catch (StepFailedException failed) {
                    return failed.getMessage();
                }
            });
            perdure.register(flow);
            for (String call : CALLS.keySet()) {
                assertThat(perdure.start(Invocation.of(flow, call)).result())
                        .contains("failed after 1 attempt") // a second attempt would fail as well
                        .contains("ContextMisuseException: " + call + " was called inside a step body of run")
                        .contains("call the context before or after it");
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_context_is_refused_on_another_thread(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("outside", (ctx, in) -> {
                AtomicReference<String> message = new AtomicReference<>("?");
                Thread other = Thread.ofPlatform().name("stranger").start(() -> {
                    try {
                        CALLS.get(in).accept(ctx);
                    } catch (ContextMisuseException refused) {
                        message.set(refused.getMessage());
                    }
                });
                other.join();
                return message.get();
            });
            perdure.register(flow);
            for (String call : CALLS.keySet()) {
                assertThat(perdure.start(Invocation.of(flow, call)).result())
                        .startsWith(call + " was called from thread 'stranger', which is not the thread of run");
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_generator_of_random_numbers_is_refused_inside_a_body_and_on_another_thread(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, List<String>> flow =
                    Definition.of("chance", TypeRef.of(String.class), new TypeRef<List<String>>() {}, (ctx, in) -> {
                        RandomGenerator random = ctx.random();
                        List<String> messages = new ArrayList<>();
                        try {
                            ctx.step("roll", () -> random.nextInt(6));
                        } catch (StepFailedException failed) {
                            messages.add(failed.getMessage());
                        }
                        try {
                            ctx.stepAsync("roll beside", () -> random.nextInt(6))
                                    .await();
                        } catch (StepFailedException failed) {
                            messages.add(failed.getMessage());
                        }
                        messages.add(String.valueOf(random.nextInt(1)));
                        return messages;
                    });
            perdure.register(flow);
            assertThat(perdure.start(Invocation.of(flow, "x")).result())
                    .satisfiesExactly(
                            inBody -> assertThat(inBody)
                                    .contains("A generator of random() was called inside a step body of run"),
                            beside -> assertThat(beside).contains("A generator of random() was called"),
                            outside -> assertThat(outside).isEqualTo("0"));
        }
    }

    @Test
    void a_thread_without_a_name_is_named_by_its_number() {
        try (PerdureTest perdure = create(TestMode.NORMAL)) {
            Definition<String, String> flow = workflow("outside", (ctx, in) -> {
                AtomicReference<String> message = new AtomicReference<>("?");
                Thread other = Thread.ofVirtual().unstarted(() -> {
                    try {
                        ctx.uuid();
                    } catch (ContextMisuseException refused) {
                        message.set(refused.getMessage());
                    }
                });
                other.start();
                other.join();
                return message.get().replace("#" + other.threadId(), "#number");
            });
            perdure.register(flow);
            assertThat(perdure.start(Invocation.of(flow, "x")).result())
                    .startsWith("uuid was called from thread '#number', which");
        }
    }

    @Test
    void what_is_null_is_named() {
        try (PerdureTest perdure = create(TestMode.NORMAL)) {
            Dag<String, String> dag = Dag.of("dag", String.class, builder -> builder.task("a", t -> "a"));
            perdure.register(CHILD, dag, new Tally());
            refuses(
                    () -> perdure.start((WorkflowMethod.Function<Object, String, String>) null, "x"),
                    "The workflow is null. Name it by a method reference such as Orders::process.");
            refuses(
                    () -> perdure.start(Invocation.of((Definition<String, String>) null, "x")),
                    "The definition is null. Give one that Definition.of(…) made.");
            refuses(
                    () -> perdure.start((Dag<String, String>) null, "x"),
                    "The DAG is null. Pass one that Dag.of(…) returned.");
            refuses(
                    () -> perdure.start(Invocation.of(CHILD, "x"), null),
                    "The options of the run of 'child' are null. Give StartOptions.defaults(), or leave them out.");
            refuses(
                    () -> perdure.start(dag, "x", null),
                    "The options of the run of 'dag' are null. Give StartOptions.defaults(), or leave them out.");
            refuses(
                    () -> perdure.start(dag, null),
                    "The input of DAG 'dag' is null. Give it a java.lang.String; a DAG that needs none takes Void.");
            refuses(
                    () -> perdure.object(Tally.class, "x").call(Tally::add, null),
                    "The input of handler 'tally/add' is null. Give it a java.lang.Integer; "
                            + "a handler that needs none takes only the context.");
            refuses(
                    () -> perdure.object(Tally.class, "x")
                            .call((ObjectMethod.Function<Tally, Integer, Integer>) null, 1),
                    "The handler is null. Name it by a method reference such as Cart::add.");
            refuses(
                    () -> Perdure.on(null),
                    "Cannot set up the engine: the store is null; "
                            + "give it one, such as PostgresStore.on(dataSource).open().");
            try (Store store = new MemoryStore()) {
                refuses(
                        () -> Perdure.on(store).register(CHILD, null),
                        "register was given null. "
                                + "Give it objects with @Workflow methods, virtual objects, definitions or DAGs.");
            }
        }
    }

    private static void refuses(ThrowingCallable call, String message) {
        assertThatThrownBy(call).isInstanceOf(InvalidRequestException.class).hasMessage(message);
    }

    @ParameterizedTest
    @EnumSource
    void the_context_is_refused_after_the_end(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicReference<WorkflowContext> kept = new AtomicReference<>();
            Definition<String, String> flow = workflow("kept", (ctx, in) -> {
                kept.set(ctx);
                return in;
            });
            perdure.register(flow);
            perdure.start(Invocation.of(flow, "x")).result();
            perdure.settle();
            CALLS.forEach((name, call) -> assertThatThrownBy(() -> call.accept(kept.get()))
                    .isInstanceOf(ContextMisuseException.class)
                    .hasMessageContaining(name + " was called after run")
                    .hasMessageContaining("do not keep it"));
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_attempt_is_known_only_inside_a_body(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("attempt", (ctx, in) -> {
                try {
                    return "" + ctx.attempt().number();
                } catch (ContextMisuseException refused) {
                    return refused.getMessage();
                }
            });
            perdure.register(flow);
            assertThat(perdure.start(Invocation.of(flow, "x")).result())
                    .startsWith("attempt() was called outside a step body of run");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_workflow_that_swallows_everything_still_leaves_memory(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicInteger bodies = new AtomicInteger();
            Definition<String, String> flow = workflow("greedy", (ctx, in) -> {
                try {
                    ctx.sleep(Duration.ofHours(1));
                } catch (Throwable swallowed) {
                    try {
                        ctx.step("never", bodies::incrementAndGet);
                    } catch (Throwable again) {
                        return "made up";
                    }
                }
                return "slept";
            });
            perdure.register(flow);
            assertThat(perdure.start(Invocation.of(flow, "x")).result()).isEqualTo("slept");
            assertThat(bodies).hasValue(0);
            assertThat(perdure.now()).isEqualTo("2030-01-01T01:00:00Z");
        }
    }

    @ParameterizedTest
    @EnumSource
    void waiting_and_joining_are_refused_inside_a_body(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("inside", (ctx, in) -> {
                DurableFuture<?> timer = ctx.timer(Duration.ofHours(1));
                try {
                    ctx.step(
                            "outer",
                            () -> {
                                switch (in) {
                                    case "await" -> timer.await();
                                    case "any" -> DurableFuture.any(timer);
                                    default -> timer.orTimeout(Duration.ofSeconds(1));
                                }
                            },
                            retry(1));
                    return "?";
                } catch (StepFailedException failed) {
                    return failed.getMessage();
                }
            });
            perdure.register(flow);
            for (String call : List.of("await", "any", "timer")) {
                assertThat(perdure.start(Invocation.of(flow, call)).result())
                        .contains("failed after 1 attempt") // a second attempt would fail as well
                        .contains("ContextMisuseException: " + call + " was called inside a step body of run");
            }
        }
    }

    /** A call with invalid arguments, and its message. */
    private record Nonsense(Consumer<WorkflowContext> call, List<String> message) {}

    private static Nonsense nonsense(Consumer<WorkflowContext> call, String... message) {
        return new Nonsense(call, List.of(message));
    }

    private static final List<Nonsense> NONSENSE = List.of(
            nonsense(ctx -> DurableFuture.any(List.of()), "There are no futures to wait for. Give at least one."),
            nonsense(ctx -> DurableFuture.race(List.of()), "There are no futures to wait for."),
            nonsense(ctx -> DurableFuture.firstSucceeded(List.of()), "There are no futures to wait for."),
            nonsense(
                    ctx -> DurableFuture.parallel(List.of(1), 0, each -> ctx.timer(Duration.ZERO)),
                    "parallel was called with a bound of 0; it is at least 1."),
            nonsense(ctx -> ctx.timer(Duration.ofSeconds(Long.MAX_VALUE)), "The timer is", "at most 36500 days"),
            nonsense(ctx -> ctx.timer(null), "The timer is null"),
            nonsense(ctx -> ctx.promise(TOPIC).orTimeout(null), "The timeout is null"),
            nonsense(ctx -> ctx.receive(TOPIC).await(Duration.ofDays(40_000)), "The timeout is", "at most 36500 days"),
            nonsense(
                    ctx -> ctx.step("s", () -> {}, StepOptions.defaults().timeout(Duration.ofDays(36_501))),
                    "The step timeout is PT876024H; it must be longer than zero and at most 36500 days."),
            nonsense(
                    ctx -> ctx.step("s", () -> {}, StepOptions.defaults().timeout(Duration.ZERO)),
                    "The step timeout is PT0S; it must be longer than zero and at most 36500 days."),
            nonsense(ctx -> ctx.stepAsync("", () -> "x"), "The step name is empty. Give it a non-empty text."),
            nonsense(ctx -> ctx.step(null, () -> {}), "The step name is null. Give it a non-empty text."),
            nonsense(
                    ctx -> ctx.step("s".repeat(201), () -> {}),
                    "The step name 'ssss",
                    "…' has 201 characters; at most 200 are allowed. Shorten it or use a hash of it."),
            nonsense(ctx -> ctx.object(Tally.class, null), "The object key is null. Give it a non-empty text."),
            nonsense(
                    ctx -> ctx.object(Tally.class, "x").call(Tally::add, null),
                    "The input of handler 'tally/add' is null. Give it a java.lang.Integer; "
                            + "a handler that needs none takes only the context."),
            nonsense(ctx -> ctx.event(TOPIC.key("")), "The event key is empty."),
            nonsense(ctx -> ctx.emit(TOPIC.key("\u0000"), "x"), "The event key holds the character U+0000 at index 0"),
            nonsense(
                    ctx -> ctx.promise(OTHER, TOPIC).reject("\u0000"),
                    "The reason holds the character U+0000 at index 0, which cannot be stored as text"),
            nonsense(
                    ctx -> ctx.promise(OTHER, TOPIC).reject(null),
                    "The reason is null. Say why, or give an empty text."),
            nonsense(
                    ctx -> ctx.promise(OTHER, TOPIC).reject("r".repeat(1_001)),
                    "The reason has 1001 characters; at most 1000 are allowed."),
            nonsense(
                    ctx -> ctx.startChild(Invocation.of(CHILD, null)),
                    "The input of workflow 'child' is null. Give it a java.lang.String"),
            nonsense(
                    ctx -> ctx.spawn(Invocation.of(CHILD, "x"), id("spawned").message(TOPIC, "x")),
                    "spawn was called with messages",
                    "Send them with send(…)"));

    @ParameterizedTest
    @EnumSource
    void parameters_that_make_no_sense_are_refused(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<Integer, String> flow = Definition.of("nonsense", Integer.class, String.class, (ctx, number) -> {
                try {
                    NONSENSE.get(number).call().accept(ctx);
                    return "?";
                } catch (InvalidRequestException refused) {
                    return refused.getMessage();
                }
            });
            perdure.register(flow, CHILD);
            for (int i = 0; i < NONSENSE.size(); i++) {
                assertThat(perdure.start(Invocation.of(flow, i)).result())
                        .contains(NONSENSE.get(i).message());
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_future_of_another_run_is_not_joined(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicReference<DurableFuture<?>> leaked = new AtomicReference<>();
            Definition<String, String> flow = workflow("leaking", (ctx, in) -> {
                DurableFuture<?> own = ctx.timer(Duration.ZERO);
                if (in.equals("leak")) {
                    leaked.set(own);
                    return "leaked";
                }
                try {
                    return "" + DurableFuture.any(own, leaked.get()).await();
                } catch (InvalidRequestException refused) {
                    return refused.getMessage();
                }
            });
            perdure.register(flow);
            perdure.start(Invocation.of(flow, "leak")).result();
            assertThat(perdure.start(Invocation.of(flow, "join")).result())
                    .isEqualTo("A future does not come from this context. "
                            + "Join only futures of the same run, and do not keep futures.");
        }
    }

    @ParameterizedTest
    @EnumSource
    void mail_that_cannot_arrive_is_an_error_for_its_sender(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("quick", (ctx, in) -> in);
            perdure.register(flow).maxPayloadBytes(1_000);
            Run<String> ended = perdure.start(Invocation.of(flow, "x"), id("ended"));
            ended.result();
            String unknown = "There is no run 'nobody'. Check the id, or start it with its first message.";
            assertThatThrownBy(() -> perdure.send(RunId.of("nobody"), TOPIC, "x"))
                    .isInstanceOf(UnknownRunException.class)
                    .hasMessage(unknown);
            assertThatThrownBy(() -> perdure.resolveAll(List.of(RunId.of("nobody")), TOPIC, to -> "x"))
                    .isInstanceOf(UnknownRunException.class)
                    .hasMessage(unknown);
            String over = "Run 'ended' has ended, so nothing reaches it any more. "
                    + "Look at its result, or start another run.";
            assertThatThrownBy(() -> ended.send(TOPIC, "x"))
                    .isInstanceOf(RunEndedException.class)
                    .hasMessage(over);
            assertThatThrownBy(() -> ended.promise(TOPIC).resolve("x"))
                    .isInstanceOf(RunEndedException.class)
                    .hasMessage(over);
            assertThatThrownBy(() -> ended.send(TOPIC, "x".repeat(2_000)))
                    .isInstanceOf(PayloadException.class)
                    .hasMessageContaining(
                            "The message for 'topic' (java.lang.String) cannot be stored: it has 2002 bytes");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_malformed_token_and_an_unknown_token_are_errors(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(CHILD);
            for (String malformed : new String[] {null, "", "awk_", "awk_short", "xyz_" + "A".repeat(32)}) {
                assertThatThrownBy(() -> perdure.resolve(malformed, "x"))
                        .isInstanceOf(UnknownTokenException.class)
                        .hasMessage(
                                "This is no token of an awakeable: it does not begin with awk1_ or awk2_, or has not the right "
                                        + "length. Pass on exactly what Awakeable.token() gave.");
            }
            assertThatThrownBy(() -> perdure.reject("awk_" + "A".repeat(32), "x"))
                    .isInstanceOf(UnknownTokenException.class)
                    .hasMessage("No awakeable has this token. It was mistyped, or its run has begun anew or is gone.");
            assertThatThrownBy(() -> perdure.reject("awk_" + "A".repeat(32), null))
                    .isInstanceOf(InvalidRequestException.class);
        }
    }

    @ParameterizedTest
    @EnumSource
    void topics_keys_and_delays_are_checked_before_anything_is_sent(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(CHILD);
            assertThatThrownBy(() -> Topic.of("", String.class)).isInstanceOf(InvalidRequestException.class);
            assertThatThrownBy(() -> Topic.of("t\n", String.class)).isInstanceOf(InvalidRequestException.class);
            assertThatThrownBy(() -> perdure.emit(TOPIC.key(""), "x"))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("The event key is empty");
            assertThatThrownBy(() -> id("x").delay(Duration.ofSeconds(-1)))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("The delay is PT-1S; it cannot be negative");
        }
    }
}
