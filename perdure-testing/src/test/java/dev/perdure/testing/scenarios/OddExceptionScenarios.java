package dev.perdure.testing.scenarios;

import static dev.perdure.StepOptions.retry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.RetryPolicy;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.Saga;
import dev.perdure.StepAction;
import dev.perdure.StepBody;
import dev.perdure.StepOptions;
import dev.perdure.WorkflowContext;
import dev.perdure.error.CompensationFailedException;
import dev.perdure.error.RunFailedException;
import dev.perdure.error.StepFailedException;
import dev.perdure.interceptor.Interceptor;
import dev.perdure.interceptor.WorkflowCall;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.LoggerFactory;

/**
 * Exceptions that a logging library cannot write: nothing depends on whether a line could be logged. They have to be
 * logged here, so the level is that of an application.
 */
abstract class OddExceptionScenarios extends Scenarios {
    private static final StepOptions IN_THREE = retry(RetryPolicy.standard()
            .attempts(3)
            .initialDelay(Duration.ofSeconds(1))
            .jitter(0));

    private final Logger logger = (Logger) LoggerFactory.getLogger("dev.perdure");

    @BeforeEach
    void logAsAnApplicationDoes() {
        logger.setLevel(Level.INFO);
        logger.setAdditive(false); // what is logged is of no interest
    }

    @AfterEach
    void logNothingAgain() {
        logger.setLevel(null);
        logger.setAdditive(true);
    }

    /** What is odd about an exception. */
    enum Odd {
        MESSAGE,
        LOCALIZED_MESSAGE,
        TEXT,
        STACK,
        CAUSE,
        UNPRINTABLE,
        LONG_CHAIN,
        LONG_CHAIN_OF_SUPPRESSED,
        CIRCLE;

        RuntimeException make() {
            return switch (this) {
                case LONG_CHAIN -> {
                    RuntimeException chain = new IllegalStateException("the first");
                    for (int i = 0; i < 10_000; i++) {
                        chain = new IllegalStateException("a later one", chain);
                    }
                    yield chain;
                }
                case LONG_CHAIN_OF_SUPPRESSED -> {
                    RuntimeException chain = new IllegalStateException("the first");
                    for (int i = 0; i < 10_000; i++) {
                        RuntimeException later = new IllegalStateException("a later one");
                        later.addSuppressed(chain);
                        chain = later;
                    }
                    yield chain;
                }
                case CIRCLE -> {
                    RuntimeException first = new IllegalStateException("the first");
                    RuntimeException second = new IllegalStateException("the second", first);
                    first.initCause(second);
                    yield second;
                }
                case MESSAGE, LOCALIZED_MESSAGE, TEXT, STACK, CAUSE, UNPRINTABLE -> new OddException(this);
            };
        }
    }

    /** An exception with methods that throw. */
    private static final class OddException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private final Odd how;

        OddException(Odd how) {
            super("an odd message");
            this.how = how;
        }

        private <T> T unless(Odd odd, T value) {
            if (how == odd) {
                throw new IllegalStateException("odd");
            }
            return value;
        }

        @Override
        public String getMessage() {
            return unless(Odd.MESSAGE, super.getMessage());
        }

        @Override
        public String getLocalizedMessage() {
            return unless(Odd.LOCALIZED_MESSAGE, super.getLocalizedMessage());
        }

        @Override
        public String toString() {
            return unless(Odd.TEXT, super.toString());
        }

        @Override
        public StackTraceElement[] getStackTrace() {
            return unless(Odd.STACK, super.getStackTrace());
        }

        @Override
        public void printStackTrace(PrintWriter to) {
            unless(Odd.UNPRINTABLE, "");
            super.printStackTrace(to);
        }

        @Override
        public @Nullable Throwable getCause() {
            return how == Odd.CAUSE ? unless(Odd.CAUSE, null) : super.getCause();
        }
    }

    /** Runs a workflow that calls something for each odd exception, and says what came out each time. */
    private static List<String> outcomes(PerdureTest perdure, OddCall calling) {
        Definition<String, String> flow = workflow("odd", (ctx, in) -> {
            StringBuilder outcomes = new StringBuilder();
            for (Odd odd : Odd.values()) {
                try {
                    outcomes.append(calling.call(ctx, odd)).append('\n');
                } catch (StepFailedException failed) {
                    outcomes.append(failed.attempts()).append(" attempts\n");
                }
            }
            return outcomes.toString();
        });
        perdure.register(flow);
        return perdure.start(Invocation.of(flow, "x")).result().lines().toList();
    }

    /** What a workflow does with an exception. */
    @FunctionalInterface
    private interface OddCall {
        Object call(WorkflowContext ctx, Odd odd);
    }

    private static List<String> each(String outcome) {
        return Collections.nCopies(Odd.values().length, outcome);
    }

    @ParameterizedTest
    @EnumSource
    void a_step_gets_all_its_attempts_whatever_it_throws(TestMode mode) {
        AtomicInteger bodies = new AtomicInteger();
        try (PerdureTest perdure = create(mode)) {
            assertThat(outcomes(
                            perdure,
                            (ctx, odd) -> ctx.step(
                                    "odd " + odd,
                                    (StepBody<String>) () -> {
                                        bodies.incrementAndGet();
                                        throw odd.make();
                                    },
                                    IN_THREE)))
                    .isEqualTo(each("3 attempts"));
            assertThat(bodies).hasValue(3 * Odd.values().length);
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_asynchronous_step_gets_all_its_attempts_whatever_it_throws(TestMode mode) {
        AtomicInteger bodies = new AtomicInteger();
        try (PerdureTest perdure = create(mode)) {
            assertThat(outcomes(
                            perdure,
                            (ctx, odd) -> ctx.stepAsync(
                                            "odd " + odd,
                                            (StepBody<String>) () -> {
                                                bodies.incrementAndGet();
                                                throw odd.make();
                                            },
                                            IN_THREE)
                                    .await()))
                    .isEqualTo(each("3 attempts"));
            assertThat(bodies).hasValue(3 * Odd.values().length);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_run_fails_at_once_whatever_its_code_throws(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("odd", (ctx, in) -> {
                ctx.step("before", () -> "done");
                throw Odd.valueOf(in).make();
            });
            perdure.register(flow);
            for (Odd odd : Odd.values()) {
                Run<String> run = perdure.start(Invocation.of(flow, odd.name()));
                assertThatThrownBy(run::result).as("%s", odd).isInstanceOf(RunFailedException.class);
                assertThat(run.state()).as("%s", odd).isEqualTo(RunState.FAILED);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void what_a_workflow_logs_changes_nothing(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            assertThat(outcomes(perdure, (ctx, odd) -> {
                        ctx.logger().warn("Not good.", odd.make());
                        ctx.logger().atWarn().setCause(odd.make()).log("Not good.");
                        return ctx.step("after " + odd, () -> "logged");
                    }))
                    .isEqualTo(each("logged"));
        }
    }

    @ParameterizedTest
    @EnumSource
    void what_a_listener_or_an_interceptor_throws_changes_nothing(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            for (Odd odd : Odd.values()) {
                perdure.listener(change -> {
                    throw odd.make();
                });
            }
            AtomicInteger calls = new AtomicInteger();
            perdure.interceptor(new Interceptor() {
                @Override
                public <T extends @Nullable Object> Callable<T> workflow(WorkflowCall call, Callable<T> code) {
                    return () -> {
                        code.call();
                        throw Odd.values()[calls.getAndIncrement() % Odd.values().length].make();
                    };
                }
            });
            Definition<String, String> flow = workflow("odd", (ctx, in) -> ctx.step("one", () -> "done"));
            perdure.register(flow);
            List<Run<String>> runs = Stream.generate(() -> perdure.start(Invocation.of(flow, "x")))
                    .limit(Odd.values().length)
                    .toList();
            assertThat(runs).allSatisfy(run -> assertThat(run.result()).isEqualTo("done"));
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_saga_undoes_everything_whatever_the_reason_is(TestMode mode) {
        AtomicInteger undone = new AtomicInteger();
        try (PerdureTest perdure = create(mode)) {
            assertThat(outcomes(perdure, (ctx, odd) -> {
                        Saga saga = new Saga(ctx);
                        saga.undo("undo " + odd, (StepAction) undone::incrementAndGet);
                        saga.undo(
                                "fail " + odd,
                                (StepAction) () -> {
                                    throw odd.make();
                                },
                                retry(1));
                        return saga.compensate(odd.make()) instanceof CompensationFailedException ? "told" : "not told";
                    }))
                    .isEqualTo(each("told"));
            assertThat(undone).hasValue(Odd.values().length);
        }
    }
}
