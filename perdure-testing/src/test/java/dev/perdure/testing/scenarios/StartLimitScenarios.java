package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.ChildOptions;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.RunFailedException;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Runs that have to begin within some time. No worker takes runs from the queue {@code elsewhere}. */
abstract class StartLimitScenarios extends Scenarios {
    private static final Definition<String, String> ECHO = workflow("echo", (ctx, in) -> ctx.step("echo", () -> in));

    @ParameterizedTest
    @EnumSource
    void a_run_that_no_worker_takes_in_time_is_cancelled_with_the_reason(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(ECHO);
            Run<String> run = perdure.start(
                    Invocation.of(ECHO, "x"), id("late").queue("elsewhere").startWithin(Duration.ofMinutes(5)));
            perdure.advance(Duration.ofMinutes(5).minusMillis(1));
            assertThat(run.info().state()).isEqualTo(RunState.READY);
            assertThatThrownBy(run::result)
                    .isInstanceOf(RunFailedException.class)
                    .hasMessageContaining("did not begin within PT5M in the queue 'elsewhere'");
            assertThat(run.info().state()).isEqualTo(RunState.CANCELLED);
            perdure.settle();
            assertThat(statesOf(perdure, "late")).containsOnlyOnce(RunState.CANCELLED);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_run_that_begins_in_time_may_take_as_long_as_it_likes(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> slow = workflow("slow", (ctx, in) -> {
                ctx.sleep(Duration.ofHours(1));
                return ctx.step("echo", () -> in);
            });
            perdure.register(slow);
            Run<String> run = perdure.start(
                    Invocation.of(slow, "x"), StartOptions.defaults().startWithin(Duration.ofMinutes(5)));
            Run<String> delayed = perdure.start(
                    Invocation.of(slow, "y"),
                    StartOptions.after(Duration.ofHours(2)).startWithin(Duration.ofMinutes(5)));
            assertThat(run.result()).isEqualTo("x");
            assertThat(delayed.result()).isEqualTo("y");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_parent_is_told_that_its_child_did_not_begin(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> parent = workflow("parent", (ctx, in) -> {
                try {
                    ChildOptions soon =
                            ChildOptions.defaults().queue("elsewhere").startWithin(Duration.ofMinutes(5));
                    return ctx.startChild(Invocation.of(ECHO, in), soon).await();
                } catch (RunFailedException late) {
                    return late.state() + ": " + in;
                }
            });
            perdure.register(ECHO, parent);
            assertThat(perdure.start(Invocation.of(parent, "x")).result()).isEqualTo("CANCELLED: x");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_time_that_is_not_positive_is_refused(TestMode mode) {
        assertThatThrownBy(() -> StartOptions.defaults().startWithin(Duration.ZERO))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("The time to start within is PT0S; it must be longer than zero and at most 36500 days.");
        assertThatThrownBy(() -> StartOptions.defaults().startWithin(Duration.ofMinutes(-1)))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("is PT-1M; it must be longer than zero");
        assertThatThrownBy(() -> StartOptions.defaults().startWithin(Duration.ofDays(40_000)))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("at most 36500 days");
    }
}
