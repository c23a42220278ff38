package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static dev.perdure.StepOptions.retry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.RetryPolicy;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.error.CancelledException;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The answer to a commit or to a claim is lost. The engine must behave the same whether it was applied or not. */
abstract class FaultScenarios extends Scenarios {
    private static final Duration HOUR = Duration.ofHours(1);

    @ParameterizedTest
    @EnumSource
    void the_lost_answer_of_a_step_changes_nothing(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicInteger bodies = new AtomicInteger();
            Definition<String, String> flow = workflow(
                    "step",
                    (ctx, in) -> ctx.step("work", () -> {
                        perdure.loseNextAnswer();
                        return "body " + bodies.incrementAndGet();
                    }));
            perdure.register(flow);
            assertThat(perdure.start(Invocation.of(flow, "x")).result()).isEqualTo("body 1");
            assertThat(bodies).hasValue(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_lost_answer_of_a_flush_changes_nothing(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicBoolean once = new AtomicBoolean();
            Definition<String, String> flow = workflow("ride", (ctx, in) -> {
                String now = ctx.now().toString();
                if (once.compareAndSet(false, true)) {
                    perdure.loseNextAnswer();
                }
                return now + ctx.step("work", () -> "!");
            });
            perdure.register(flow);
            assertThat(perdure.start(Invocation.of(flow, "x")).result()).isEqualTo("2030-01-01T00:00:00Z!");
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_lost_answer_of_a_suspension_changes_nothing(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicBoolean once = new AtomicBoolean();
            Definition<String, String> flow = workflow("sleep", (ctx, in) -> {
                if (once.compareAndSet(false, true)) {
                    perdure.loseNextAnswer();
                }
                ctx.sleep(HOUR);
                return ctx.now().toString();
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("s"));
            perdure.settle();
            assertThat(run.state()).isEqualTo(RunState.SUSPENDED);
            assertThat(run.result()).isEqualTo("2030-01-01T01:00:00Z");
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_lost_answer_of_a_back_off_changes_nothing(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicInteger bodies = new AtomicInteger();
            Definition<String, String> flow = workflow(
                    "back off",
                    (ctx, in) -> ctx.step(
                            "work",
                            () -> {
                                if (bodies.incrementAndGet() == 1) {
                                    perdure.loseNextAnswer();
                                    throw new IllegalStateException("no");
                                }
                                return "attempt " + ctx.attempt().number();
                            },
                            retry(RetryPolicy.standard().initialDelay(HOUR).jitter(0))));
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            perdure.settle();
            assertThat(run.state()).isEqualTo(RunState.BACKING_OFF);
            assertThat(run.result()).isEqualTo("attempt 2");
            assertThat(perdure.now()).isEqualTo("2030-01-01T01:00:00Z");
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_lost_answer_of_the_end_changes_nothing(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicInteger ended = new AtomicInteger();
            Definition<String, String> flow = workflow("end", (ctx, in) -> {
                perdure.loseNextAnswer();
                return in + ended.incrementAndGet();
            });
            Definition<String, String> bad = workflow("bad end", (ctx, in) -> {
                perdure.loseNextAnswer();
                throw new IllegalStateException("as told " + ended.incrementAndGet());
            });
            perdure.register(flow, bad);
            assertThat(perdure.start(Invocation.of(flow, "x")).result()).isEqualTo("x1");
            assertThatThrownBy(perdure.start(Invocation.of(bad, "x"))::result).hasMessageContaining("as told 2");
            assertThat(ended).hasValue(2);
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_lost_answer_of_a_delivered_cancel_changes_nothing(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> done = new CopyOnWriteArrayList<>();
            Definition<String, String> flow = workflow("cancel", (ctx, in) -> {
                try {
                    ctx.sleep(HOUR);
                    return in;
                } catch (CancelledException cancelled) {
                    ctx.step("undo", () -> done.add("undo"));
                    throw cancelled;
                }
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("c"));
            perdure.settle();
            perdure.loseNextAnswer();
            run.cancel("stop");
            assertThatThrownBy(run::result).hasMessage("Run 'c' is CANCELLED: stop");
            assertThat(done).containsExactly("undo");
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_lost_answer_of_a_pause_changes_nothing(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> old = workflow("pause", (ctx, in) -> {
                ctx.step("a", () -> {});
                ctx.sleep(HOUR);
                return in;
            });
            Definition<String, String> changed = workflow("pause", (ctx, in) -> {
                ctx.step("b", () -> {});
                return in;
            });
            perdure.register(old);
            Run<String> run = perdure.start(Invocation.of(old, "x"));
            perdure.settle();
            perdure.deploy(changed);
            perdure.loseNextAnswer();
            perdure.advance(HOUR);
            assertThat(run.state()).isEqualTo(RunState.PAUSED);
            perdure.deploy(old);
            run.resume();
            assertThat(run.result()).isEqualTo("x");
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_lost_answer_of_giving_a_run_back_changes_nothing(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("doze", (ctx, in) -> {
                ctx.sleep(Duration.ofMillis(900));
                return in;
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            perdure.settle();
            perdure.loseNextAnswer();
            perdure.restart();
            assertThat(run.result()).isEqualTo("x");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_claim_whose_answer_was_lost_is_given_back_and_taken_again(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicInteger bodies = new AtomicInteger();
            Definition<String, String> flow = workflow("claimed", (ctx, in) -> {
                ctx.sleep(HOUR);
                return ctx.step("work", () -> "body " + bodies.incrementAndGet());
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            perdure.settle();
            perdure.loseNextClaim();
            assertThat(run.result()).isEqualTo("body 1");
            assertThat(bodies).hasValue(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_lost_claim_of_a_run_that_never_ran_is_taken_again(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("claimed", (ctx, in) -> in);
            perdure.register(flow);
            perdure.settle();
            perdure.loseNextClaim();
            assertThat(perdure.client().start(Invocation.of(flow, "x")).result())
                    .isEqualTo("x");
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_lost_claim_of_a_cancelled_run_still_delivers_the_cancel(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("claimed", (ctx, in) -> {
                ctx.sleep(HOUR);
                return in;
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("c"));
            perdure.settle();
            perdure.loseNextClaim();
            run.cancel("stop");
            assertThatThrownBy(run::result).hasMessage("Run 'c' is CANCELLED: stop");
        }
    }
}
