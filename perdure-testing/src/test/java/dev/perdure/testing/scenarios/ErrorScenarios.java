package dev.perdure.testing.scenarios;

import static dev.perdure.StepOptions.retry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.RetryPolicy;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.Saga;
import dev.perdure.StartOptions;
import dev.perdure.StepOptions;
import dev.perdure.WorkflowContext;
import dev.perdure.dag.Dag;
import dev.perdure.dag.DagRun;
import dev.perdure.error.CompensationFailedException;
import dev.perdure.error.RunFailedException;
import dev.perdure.error.StepFailedException;
import dev.perdure.object.Handler;
import dev.perdure.object.ObjectContext;
import dev.perdure.object.ObjectHandle;
import dev.perdure.object.StateKey;
import dev.perdure.object.VirtualObject;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import dev.perdure.transaction.TransactionOptions;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * An {@code Error} of user code counts like an exception: in a step body it fails the attempt, in a workflow it fails
 * the run.
 */
abstract class ErrorScenarios extends Scenarios {
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final RetryPolicy THREE_TIMES = RetryPolicy.standard()
            .attempts(3)
            .initialDelay(MINUTE)
            .factor(1)
            .maxDelay(MINUTE)
            .jitter(0);
    private static final StepOptions IN_THREE = retry(THREE_TIMES);

    private final List<Instant> bodies = new CopyOnWriteArrayList<>();

    /** Errors that a deploy or a bug causes. */
    enum Broken {
        DEEP_RECURSION,
        MISSING_CLASS,
        FULL_HEAP,
        /** An error whose {@code getMessage} throws. */
        BROKEN_MESSAGE;

        int fail() {
            return switch (this) {
                case DEEP_RECURSION -> deeper(0);
                case MISSING_CLASS -> throw new NoClassDefFoundError("shop/Payments");
                case FULL_HEAP -> throw new OutOfMemoryError("in a test");
                case BROKEN_MESSAGE ->
                    throw new LinkageError("hidden") {
                        private static final long serialVersionUID = 1L;

                        @Override
                        public String getMessage() {
                            throw new NoClassDefFoundError("shop/Messages");
                        }
                    };
            };
        }

        @SuppressWarnings("InfiniteRecursion") // the test needs a stack overflow
        private static int deeper(int depth) {
            return deeper(depth + 1) + 1;
        }
    }

    /** Records that it runs, and throws. */
    private int broken(PerdureTest perdure, Broken how) {
        bodies.add(perdure.now());
        return how.fail();
    }

    private void assertThreeAttemptsAMinuteApart() {
        assertThat(bodies).hasSize(3);
        assertThat(Duration.between(bodies.get(0), bodies.get(1))).isEqualTo(MINUTE);
        assertThat(Duration.between(bodies.get(1), bodies.get(2))).isEqualTo(MINUTE);
    }

    /** A way to run a body in a workflow. */
    @FunctionalInterface
    private interface Calling {
        Object call(WorkflowContext ctx);
    }

    private String failureOf(PerdureTest perdure, Calling calling) {
        Definition<String, String> flow = workflow("broken", (ctx, in) -> {
            try {
                return "gave " + calling.call(ctx);
            } catch (StepFailedException failed) {
                return failed.attempts() + " " + failed.errorType();
            }
        });
        perdure.register(flow);
        return perdure.start(Invocation.of(flow, "x")).result();
    }

    @ParameterizedTest
    @EnumSource
    void an_error_in_the_body_of_a_step_is_a_failed_attempt_under_its_policy(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            assertThat(failureOf(
                            perdure, ctx -> ctx.step("work", () -> broken(perdure, Broken.DEEP_RECURSION), IN_THREE)))
                    .isEqualTo("3 java.lang.StackOverflowError");
            assertThreeAttemptsAMinuteApart();
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_error_in_the_body_of_an_asynchronous_step_is_a_failed_attempt_under_its_policy(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            assertThat(failureOf(
                            perdure,
                            ctx -> ctx.stepAsync("work", () -> broken(perdure, Broken.MISSING_CLASS), IN_THREE)
                                    .await()))
                    .isEqualTo("3 java.lang.NoClassDefFoundError");
            assertThreeAttemptsAMinuteApart();
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_error_in_the_body_of_a_transaction_is_a_failed_attempt_under_its_policy(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Vault vault = new Vault();
            TransactionOptions options = TransactionOptions.defaults().retry(THREE_TIMES);
            assertThat(failureOf(
                            perdure,
                            ctx -> ctx.transaction(
                                    "work",
                                    vault,
                                    numbers ->
                                            numbers.merge("count", 1, Integer::sum) + broken(perdure, Broken.FULL_HEAP),
                                    options)))
                    .isEqualTo("3 java.lang.OutOfMemoryError");
            assertThreeAttemptsAMinuteApart();
            assertThat(vault.number("count")).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource
    void every_error_is_a_failed_attempt_even_one_whose_message_cannot_be_asked_for(Broken how) {
        try (PerdureTest perdure = create(TestMode.NORMAL)) {
            assertThat(failureOf(perdure, ctx -> ctx.step("work", () -> broken(perdure, how), IN_THREE)))
                    .startsWith("3 ");
        }
        try (PerdureTest perdure = create(TestMode.NORMAL)) {
            assertThat(failureOf(
                            perdure,
                            ctx -> ctx.stepAsync("work", () -> broken(perdure, how), IN_THREE)
                                    .await()))
                    .startsWith("3 ");
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_error_in_a_compensation_is_a_failed_attempt_and_the_others_still_run(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> undone = new CopyOnWriteArrayList<>();
            Definition<String, String> flow = workflow("saga", (ctx, in) -> {
                Saga saga = new Saga(ctx);
                saga.undo("first", () -> undone.add("first"));
                saga.undo("second", () -> broken(perdure, Broken.MISSING_CLASS), IN_THREE);
                throw saga.compensate(new IllegalStateException("why"));
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            assertThatThrownBy(run::result)
                    .hasMessageContaining(CompensationFailedException.class.getName())
                    .hasMessageContaining("java.lang.NoClassDefFoundError: shop/Payments");
            assertThat(undone).containsExactly("first");
            assertThreeAttemptsAMinuteApart();
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_error_in_a_task_or_its_condition_fails_the_task(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Dag<String, Integer> dag = Dag.of("tasks", String.class, builder -> {
                var task = builder.task("task", t -> broken(perdure, Broken.DEEP_RECURSION))
                        .retry(THREE_TIMES);
                var asked = builder.task("asked", t -> 1).onlyIf(t -> Broken.MISSING_CLASS.fail() > 0);
                var durable = builder.workflow("durable", (ctx, t) -> Broken.FULL_HEAP.fail());
                return builder.after(task, asked, durable).task("join", (t, one, two, three) -> 1);
            });
            perdure.register(dag);
            DagRun<Integer> run = perdure.start(dag, "x");
            assertThatThrownBy(run::result)
                    .hasMessageContaining("3 tasks of DAG 'tasks' failed")
                    .hasMessageContaining("java.lang.StackOverflowError")
                    .hasMessageContaining("java.lang.NoClassDefFoundError: shop/Payments")
                    .hasMessageContaining("java.lang.OutOfMemoryError: in a test");
            assertThreeAttemptsAMinuteApart();
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_error_that_leaves_the_workflow_fails_the_run_at_once(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow =
                    workflow("broken", (ctx, in) -> in + broken(perdure, Broken.DEEP_RECURSION));
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            assertThatThrownBy(run::result)
                    .isInstanceOf(RunFailedException.class)
                    .hasMessageContaining("java.lang.StackOverflowError");
            assertThat(run.state()).isEqualTo(RunState.FAILED);
            assertThat(run.info().recoveries()).isZero();
            assertThat(bodies).hasSize(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_error_that_leaves_a_handler_fails_the_call_and_frees_the_key(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(new Counter());
            ObjectHandle<Counter> counter = perdure.object(Counter.class, "a");
            List<Run<Integer>> runs = IntStream.range(0, 6)
                    .mapToObj(i -> counter.send(Counter::countUnlessThird, StartOptions.defaults()))
                    .toList();
            assertThatThrownBy(runs.get(2)::result)
                    .isInstanceOf(RunFailedException.class)
                    .hasMessageContaining("java.lang.NoClassDefFoundError: shop/Payments");
            assertThat(runs.get(5).result()).isEqualTo(6);
        }
    }

    @VirtualObject("error counter")
    static final class Counter {
        private static final StateKey<Integer> COUNT = StateKey.of("count", Integer.class);

        @Handler
        public int countUnlessThird(ObjectContext ctx) {
            int count = ctx.get(COUNT).orElse(0) + 1;
            ctx.set(COUNT, count);
            return count == 3 ? Broken.MISSING_CLASS.fail() : count;
        }
    }
}
