package dev.perdure.testing.scenarios;

import static dev.perdure.StepOptions.retry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.ContextMisuseException;
import dev.perdure.Definition;
import dev.perdure.StepFailedException;
import dev.perdure.WorkflowContext;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

abstract class MisuseScenarios extends Scenarios {
    private static final Map<String, Consumer<WorkflowContext>> CALLS = new LinkedHashMap<>(Map.of(
            "step",
            ctx -> ctx.run("inner", () -> {}),
            "sleep",
            ctx -> ctx.sleep(Duration.ofSeconds(1)),
            "now",
            WorkflowContext::now,
            "uuid",
            WorkflowContext::uuid,
            "random",
            WorkflowContext::random,
            "patched",
            ctx -> ctx.patched("p")));

    @ParameterizedTest
    @EnumSource
    void the_context_is_refused_inside_a_body(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("inside", (ctx, in) -> {
                try {
                    ctx.run("outer", () -> CALLS.get(in).accept(ctx), retry(1));
                    return "?";
                } catch (StepFailedException failed) {
                    return failed.getMessage();
                }
            });
            perdure.register(flow);
            for (String call : CALLS.keySet()) {
                assertThat(perdure.start(flow, call).result())
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
                assertThat(perdure.start(flow, call).result())
                        .startsWith(call + " was called from thread 'stranger', which is not the thread of run");
            }
        }
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
            perdure.start(flow, "x").result();
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
            assertThat(perdure.start(flow, "x").result()).startsWith("attempt() was called outside a step body of run");
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
                        ctx.run("never", bodies::incrementAndGet);
                    } catch (Throwable again) {
                        return "made up";
                    }
                }
                return "slept";
            });
            perdure.register(flow);
            assertThat(perdure.start(flow, "x").result()).isEqualTo("slept");
            assertThat(bodies).hasValue(0);
            assertThat(perdure.now()).isEqualTo("2030-01-01T01:00:00Z");
        }
    }
}
