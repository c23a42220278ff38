package dev.perdure.testing.scenarios;

import static dev.perdure.RunState.BACKING_OFF;
import static dev.perdure.RunState.CANCELLED;
import static dev.perdure.RunState.COMPLETED;
import static dev.perdure.RunState.FAILED;
import static dev.perdure.RunState.PAUSED;
import static dev.perdure.RunState.READY;
import static dev.perdure.RunState.RUNNING;
import static dev.perdure.RunState.SUSPENDED;
import static dev.perdure.StartOptions.id;
import static dev.perdure.StepOptions.retry;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.RetryPolicy;
import dev.perdure.Run;
import dev.perdure.RunChange;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

abstract class ListenerScenarios extends Scenarios {
    private static final Duration HOUR = Duration.ofHours(1);

    private static final Definition<String, String> STORY = workflow("story", (ctx, in) -> {
        ctx.sleep(HOUR);
        if (in.equals("fail")) {
            throw new IllegalStateException("as told");
        }
        return in;
    });

    @ParameterizedTest
    @EnumSource
    void the_listener_is_told_of_every_change_of_a_run_that_completes(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(STORY);
            perdure.start(Invocation.of(STORY, "x"), id("r")).result();
            perdure.settle();
            assertThat(statesOf(perdure, "r")).containsExactly(RUNNING, SUSPENDED, RUNNING, COMPLETED);
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_listener_is_told_why_a_run_failed(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(STORY);
            perdure.start(Invocation.of(STORY, "fail"), id("r"));
            perdure.advance(HOUR);
            RunChange last = perdure.changes().getLast();
            assertThat(last.state()).isEqualTo(FAILED);
            assertThat(last.definition()).isEqualTo("story");
            assertThat(last.reason()).contains("java.lang.IllegalStateException: as told");
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_listener_is_told_of_back_offs(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flaky = workflow(
                    "flaky",
                    (ctx, in) -> ctx.step(
                            "call",
                            () -> {
                                if (ctx.attempt().number() == 1) {
                                    throw new IllegalStateException("no");
                                }
                                return in;
                            },
                            retry(RetryPolicy.standard().initialDelay(HOUR).jitter(0))));
            perdure.register(flaky);
            perdure.start(Invocation.of(flaky, "x"), id("r")).result();
            perdure.settle();
            assertThat(statesOf(perdure, "r"))
                    .startsWith(RUNNING, BACKING_OFF, RUNNING)
                    .containsOnlyOnce(COMPLETED);
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_listener_is_told_of_commands_once_and_not_of_those_without_effect(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(STORY);
            Run<String> run = perdure.start(Invocation.of(STORY, "x"), id("r"));
            perdure.settle();
            run.pause("hold on");
            run.pause("once more");
            run.resume();
            perdure.settle();
            run.kill("enough");
            run.kill("once more");
            run.cancel("once more");
            perdure.settle();
            // The engine that commands and the worker that takes the run report on threads of their own.
            assertThat(statesOf(perdure, "r"))
                    .containsExactlyInAnyOrder(RUNNING, SUSPENDED, PAUSED, READY, RUNNING, SUSPENDED, CANCELLED);
            assertThat(perdure.changes())
                    .extracting(change -> change.reason().orElse(""))
                    .contains("hold on", "enough")
                    .doesNotContain("once more");
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_listener_is_told_of_a_recovery(TestMode mode) throws Exception {
        try (PerdureTest perdure = create(mode)) {
            CountDownLatch inBody = new CountDownLatch(1);
            Definition<String, String> flow = workflow(
                    "flow",
                    (ctx, in) -> ctx.step("work", () -> {
                        if (inBody.getCount() > 0) {
                            inBody.countDown();
                            await(new CountDownLatch(1));
                        }
                        return in;
                    }));
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("r"));
            await(inBody);
            perdure.crashAll();
            perdure.startWorker();
            assertThat(run.result()).isEqualTo("x");
            perdure.settle();
            assertThat(statesOf(perdure, "r"))
                    .startsWith(RUNNING)
                    .contains(READY)
                    .containsOnlyOnce(COMPLETED);
            assertThat(perdure.changes())
                    .anySatisfy(change -> assertThat(change.reason().orElse("")).contains("the lease of its worker"));
        }
    }
}
