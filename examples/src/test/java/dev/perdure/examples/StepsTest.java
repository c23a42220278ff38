package dev.perdure.examples;

import static dev.perdure.StepOptions.retry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.RetryPolicy;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.StepBody;
import dev.perdure.TypeRef;
import dev.perdure.error.RunFailedException;
import dev.perdure.error.StepFailedException;
import dev.perdure.error.TerminalException;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The steps of {@code docs/guides/steps-and-retries.md}. */
class StepsTest {
    private final AtomicInteger calls = new AtomicInteger();
    private PerdureTest perdure = PerdureTest.create();

    @AfterEach
    void close() {
        perdure.close();
    }

    private List<String> tariffs() {
        return List.of("day", "night");
    }

    private String unreliable() throws IOException {
        if (calls.incrementAndGet() < 3) {
            throw new IOException("no answer");
        }
        return "value";
    }

    // region types
    final Definition<String, Integer> types = Definition.of("types", String.class, Integer.class, (ctx, in) -> {
        String one = ctx.step("a lambda says a plain class", () -> tariffs().getFirst());
        List<String> two = ctx.step("a method reference says its generics", this::tariffs);
        List<String> three = ctx.step(
                "the rest is written out", StepBody.returning(new TypeRef<List<String>>() {}, () -> tariffs()));
        return one.length() + two.size() + three.size();
    });
    // endregion

    @ParameterizedTest
    @EnumSource
    void result_types_are_found(TestMode mode) {
        perdure.close();
        perdure = PerdureTest.create(mode);
        perdure.register(types);
        assertThat(perdure.start(Invocation.of(types, "")).result()).isEqualTo(7);
    }

    @Test
    void a_lambda_with_generics_says_how_to_write_it() {
        Definition<String, Integer> raw = Definition.of(
                "raw",
                String.class,
                Integer.class,
                (ctx, in) -> ctx.step("read", () -> tariffs()).size());
        perdure.register(raw);
        Run<Integer> run = perdure.start(Invocation.of(raw, ""));
        // region raw
        assertThatThrownBy(run::result)
                .isInstanceOf(RunFailedException.class)
                .hasMessageContaining(
                        "The result type of step 'read' cannot be used. The type java.util.List cannot be stored: "
                                + "it lacks its type arguments. State it: StepBody.returning(new TypeRef<…>() {}, () -> …), "
                                + "or () -> { …; } if the step has no result.");
        // endregion
    }

    // region failed
    final Definition<String, String> fallback = Definition.of("price", String.class, String.class, (ctx, item) -> {
        try {
            return ctx.step("ask the shop", () -> unreliable(), retry(2));
        } catch (StepFailedException failed) { // every replay throws the same exception
            ctx.logger().warn("No price after {} attempts: {}", failed.attempts(), failed.errorType());
            return "on request";
        }
    });
    // endregion

    @Test
    void a_failed_step_can_be_caught() {
        perdure.register(fallback);
        assertThat(perdure.start(Invocation.of(fallback, "book")).result()).isEqualTo("on request");
        assertThat(calls).hasValue(2);
    }

    @Test
    void attempts_are_counted_across_a_crash() {
        Definition<String, String> ask = Definition.of(
                "ask",
                String.class,
                String.class,
                (ctx, in) -> ctx.step(
                        "ask",
                        () -> unreliable() + " at attempt " + ctx.attempt().number(),
                        retry(RetryPolicy.standard().initialDelay(Duration.ofHours(1)))));
        perdure.register(ask);
        Run<String> run = perdure.start(Invocation.of(ask, ""));
        perdure.settle();
        assertThat(run.state()).isEqualTo(RunState.BACKING_OFF);
        perdure.crash();
        assertThat(run.result()).isEqualTo("value at attempt 3");
    }

    @Test
    void a_terminal_exception_is_not_tried_again() {
        Definition<String, String> refused = Definition.of(
                "refused",
                String.class,
                String.class,
                (ctx, in) -> ctx.step("ask", () -> {
                    calls.incrementAndGet();
                    if (in.isEmpty()) {
                        throw new TerminalException("no such item");
                    }
                    return in;
                }));
        perdure.register(refused);
        assertThatThrownBy(perdure.start(Invocation.of(refused, ""))::result)
                .hasMessageContaining("failed after 1 attempt");
        assertThat(calls).hasValue(1);
    }

    @Test
    void a_timeout_interrupts_the_body_and_counts_as_a_failed_attempt() {
        CountDownLatch never = new CountDownLatch(1);
        // region timeout
        Definition<String, String> slow = Definition.of("slow", String.class, String.class, (ctx, in) -> {
            ctx.step("wait", () -> never.await(), retry(2).timeout(Duration.ofMillis(50)));
            return "done";
        });
        // endregion
        perdure.register(slow);
        assertThatThrownBy(perdure.start(Invocation.of(slow, ""))::result)
                .hasMessageContaining("failed after 2 attempts")
                .hasMessageContaining("took longer than PT0.05S");
    }
}
