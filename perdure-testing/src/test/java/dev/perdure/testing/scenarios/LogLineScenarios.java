package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static dev.perdure.StepOptions.retry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.RetryPolicy;
import dev.perdure.Run;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.report.LogFilter;
import dev.perdure.report.LogLine;
import dev.perdure.report.LogPage;
import dev.perdure.spi.report.StepLog;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.event.Level;

/** Log lines of steps, as an appender passes them on. */
abstract class LogLineScenarios extends Scenarios {
    private static final LogFilter ALL = LogFilter.oldest(1_000);
    private static final RetryPolicy QUICK =
            RetryPolicy.standard().initialDelay(Duration.ofMillis(1)).maxDelay(Duration.ofMillis(1));

    private static void log(String text) {
        StepLog.append(Level.INFO, "shop", text);
    }

    private static List<String> texts(LogPage page) {
        return page.lines().stream()
                .map(line -> "%s#%d.%d %s".formatted(line.step(), line.position(), line.attempt(), line.text()))
                .toList();
    }

    private static List<String> logged(Run<?> run, int count) {
        until(() -> run.log(ALL).lines().size() >= count);
        return texts(run.log(ALL));
    }

    @ParameterizedTest
    @EnumSource
    void what_bodies_log_is_kept_with_the_run_in_order(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("logging", (ctx, in) -> {
                log("outside of a step");
                ctx.step("first", () -> log("a"));
                ctx.step(
                        "second",
                        () -> {
                            log("b");
                            if (ctx.attempt().number() == 1) {
                                throw new IllegalStateException("first");
                            }
                            log("c");
                        },
                        retry(QUICK));
                return ctx.stepAsync("third", () -> {
                            log("d");
                            return in;
                        })
                        .await();
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("l-1"));
            assertThat(run.result()).isEqualTo("x");

            assertThat(logged(run, 5))
                    .containsExactly("first#1.1 a", "second#2.1 b", "second#2.2 b", "second#2.2 c", "third#3.1 d");
            LogLine first = run.log(ALL).lines().getFirst();
            assertThat(first.level()).isEqualTo(Level.INFO);
            assertThat(first.logger()).isEqualTo("shop");
            assertThat(StepLog.isOpen()).isFalse();
        }
    }

    @ParameterizedTest
    @EnumSource
    void lines_show_while_the_body_runs_and_survive_a_crash(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            CountDownLatch never = new CountDownLatch(1);
            CountDownLatch first = new CountDownLatch(1);
            Definition<String, String> flow = workflow("crashing", (ctx, in) -> {
                ctx.step("import", () -> {
                    boolean again = first.getCount() == 0;
                    log(again ? "again" : "before the crash");
                    first.countDown();
                    if (!again) {
                        await(never);
                    }
                });
                return in;
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("l-1"));
            assertThat(logged(run, 1)).containsExactly("import#1.1 before the crash");

            perdure.crash();

            assertThat(run.result()).isEqualTo("x");
            assertThat(logged(run, 2)).containsExactly("import#1.1 before the crash", "import#1.1 again");
        }
    }

    @ParameterizedTest
    @EnumSource
    void too_many_lines_drop_the_oldest_and_never_fail_the_step(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("loud", (ctx, in) -> {
                ctx.step("loud", () -> {
                    for (int line = 1; line <= 5_000; line++) {
                        log("line " + line);
                    }
                });
                return in;
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("l-1"));
            assertThat(run.result()).isEqualTo("x");

            until(() -> texts(run.log(LogFilter.newest(1))).equals(List.of("loud#1.1 line 5000")));
            LogPage page = run.log(ALL);
            assertThat(page.lines()).hasSizeLessThanOrEqualTo(1_000);
            assertThat(page.lines().size() + page.dropped()).isEqualTo(5_000);
        }
    }

    @ParameterizedTest
    @EnumSource
    void odd_lines_are_made_storable(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("odd", (ctx, in) -> {
                ctx.step("odd", () -> {
                    log("a\u0000b\uD83Dc");
                    log("x".repeat(10_000_000));
                    log("");
                });
                return in;
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("l-1"));
            assertThat(run.result()).isEqualTo("x");

            assertThat(logged(run, 3))
                    .containsExactly(
                            "odd#1.1 a\uFFFDb\uFFFDc",
                            "odd#1.1 " + "x".repeat(16 * 1024) + "… (9983616 more characters)",
                            "odd#1.1 ");
        }
        assertThatThrownBy(() -> LogFilter.oldest(0))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("The limit of log lines is 0; it must be from 1 to 1000.");
    }
}
