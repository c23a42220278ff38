package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.LoggerFactory;

abstract class PatchScenarios extends Scenarios {
    private static final Duration HOUR = Duration.ofHours(1);

    private static final Definition<String, String> OLD = workflow("flow", (ctx, in) -> {
        String way = ctx.step("old", () -> "old");
        ctx.sleep(HOUR);
        return way + ctx.step("end", () -> "!");
    });

    private static final Definition<String, String> PATCHED = workflow("flow", (ctx, in) -> {
        String way = ctx.patched("faster") ? ctx.step("new", () -> "new") : ctx.step("old", () -> "old");
        ctx.sleep(HOUR);
        if (ctx.patched("faster")) {
            way += "er";
        }
        return way + ctx.step("end", () -> "!");
    });

    private static final Definition<String, String> CLEANED = workflow("flow", (ctx, in) -> {
        String way = ctx.step("new", () -> "new");
        ctx.sleep(HOUR);
        return way + "er" + ctx.step("end", () -> "!");
    });

    @ParameterizedTest
    @EnumSource
    void old_runs_keep_the_old_branch_and_new_runs_take_the_new(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(OLD);
            Run<String> before = perdure.start(Invocation.of(OLD, "x"));
            perdure.settle();
            perdure.deploy(PATCHED);
            Run<String> after = perdure.start(Invocation.of(PATCHED, "x"));
            perdure.advance(HOUR);
            assertThat(before.result()).isEqualTo("old!");
            assertThat(after.result()).isEqualTo("newer!");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_patch_is_decided_once_and_survives_crashes(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(PATCHED);
            Run<String> run = perdure.start(Invocation.of(PATCHED, "x"));
            perdure.settle();
            perdure.crash();
            perdure.advance(HOUR);
            perdure.crash();
            assertThat(run.result()).isEqualTo("newer!");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_patch_can_be_removed_when_the_old_runs_are_gone(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(PATCHED);
            Run<String> run = perdure.start(Invocation.of(PATCHED, "x"));
            perdure.settle();
            perdure.deploy(CLEANED);
            assertThat(run.result()).isEqualTo("newer!");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_patch_removed_too_early_is_found_out(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(OLD);
            Run<String> run = perdure.start(Invocation.of(OLD, "x"));
            perdure.settle();
            perdure.deploy(CLEANED);
            perdure.advance(HOUR);
            assertThat(run.state()).isEqualTo(RunState.PAUSED);
            assertThat(run.info().reason().orElseThrow())
                    .contains("recorded is step 'old', the code asked for step 'new'");
        }
    }

    @ParameterizedTest
    @EnumSource
    void two_patches_are_decided_each_on_its_own(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> one = workflow("two", (ctx, in) -> {
                boolean first = ctx.patched("first");
                ctx.sleep(HOUR);
                return first + "/never asked";
            });
            Definition<String, String> both = workflow("two", (ctx, in) -> {
                boolean first = ctx.patched("first");
                boolean second = ctx.patched("second");
                ctx.sleep(HOUR);
                return first + "/" + second;
            });
            perdure.register(one);
            Run<String> run = perdure.start(Invocation.of(one, "x"));
            perdure.settle();
            perdure.deploy(both);
            assertThat(run.result()).isEqualTo("true/false");
            assertThat(perdure.start(Invocation.of(both, "x")).result()).isEqualTo("true/true");
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_logger_is_silent_on_replay(TestMode mode) {
        Logger logger = (Logger) LoggerFactory.getLogger("dev.perdure.workflow.talk");
        ListAppender<ILoggingEvent> lines = new ListAppender<>();
        lines.start();
        logger.addAppender(lines);
        logger.setLevel(ch.qos.logback.classic.Level.INFO);
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("talk", (ctx, in) -> {
                ctx.logger().info("begin {}", in);
                ctx.step("a", () -> ctx.logger().info("in the body"));
                ctx.sleep(HOUR);
                ctx.logger().info("after an hour");
                ctx.logger().debug("too fine");
                return in;
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("talk"));
            perdure.settle();
            perdure.crash();
            assertThat(run.result()).isEqualTo("x");
            assertThat(lines.list)
                    .extracting(ILoggingEvent::getFormattedMessage)
                    .containsExactly("begin x", "in the body", "after an hour");
        } finally {
            logger.detachAppender(lines);
        }
    }
}
