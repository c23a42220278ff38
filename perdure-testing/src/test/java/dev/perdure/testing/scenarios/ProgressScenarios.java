package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static dev.perdure.StepOptions.retry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Attempt;
import dev.perdure.Definition;
import dev.perdure.DurableFuture;
import dev.perdure.HistoryEvent;
import dev.perdure.Invocation;
import dev.perdure.RetryPolicy;
import dev.perdure.Run;
import dev.perdure.StepAction;
import dev.perdure.StepOptions;
import dev.perdure.TypeRef;
import dev.perdure.error.ContextMisuseException;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.PayloadException;
import dev.perdure.error.RunFailedException;
import dev.perdure.report.StepProgress;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Progress and heartbeats of steps, and the timeouts that depend on them. */
abstract class ProgressScenarios extends Scenarios {
    private static final Duration SHORT = Duration.ofMillis(50);
    private static final RetryPolicy QUICK =
            RetryPolicy.standard().initialDelay(Duration.ofMillis(1)).maxDelay(Duration.ofMillis(1));

    record Page(int number) {}

    private static List<String> history(Run<?> run) {
        return run.history().stream()
                .filter(event -> event.kind() == HistoryEvent.Kind.STEP)
                .map(HistoryEvent::text)
                .toList();
    }

    @ParameterizedTest
    @EnumSource
    void progress_shows_while_the_body_runs_and_not_after_its_step_has_ended(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            CountDownLatch seen = new CountDownLatch(1);
            Definition<String, String> flow = workflow("import", (ctx, in) -> {
                ctx.step("import", () -> {
                    ctx.attempt().progress(0.4, "page 3\nof 7");
                    await(seen);
                });
                return in;
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("i-1"));

            until(() -> !run.progress().isEmpty());
            StepProgress progress = run.progress().getFirst();
            assertThat(progress.step()).isEqualTo("import");
            assertThat(progress.position()).isEqualTo(1);
            assertThat(progress.attempt()).isEqualTo(1);
            assertThat(progress.fraction()).contains(0.4);
            assertThat(progress.message()).isEqualTo("page 3\nof 7");
            assertThat(progress.text()).isEqualTo("40 %, page 3 of 7");
            assertThat(history(run)).contains("attempt 1 of step 'import' reported: 40 %, page 3 of 7");

            seen.countDown();
            assertThat(run.result()).isEqualTo("x");
            assertThat(run.progress()).isEmpty();
            assertThat(history(run)).noneMatch(text -> text.contains("reported"));
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_next_attempt_gets_the_last_heartbeat_of_the_one_that_failed(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<Optional<Page>> seen = new CopyOnWriteArrayList<>();
            Definition<String, String> flow = workflow("import", (ctx, in) -> {
                ctx.step(
                        "import",
                        () -> {
                            Attempt attempt = ctx.attempt();
                            seen.add(attempt.lastHeartbeat(Page.class));
                            if (attempt.number() == 1) {
                                for (int page = 1; page <= 500; page++) {
                                    attempt.heartbeat(new Page(page));
                                }
                                attempt.progress(0.5, "page 500");
                                assertThat(attempt.lastHeartbeat(Page.class)).contains(new Page(500));
                            }
                            if (attempt.number() < 4) {
                                throw new IllegalStateException("broken");
                            }
                        },
                        retry(QUICK));
                return in;
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("i-1"));

            assertThat(run.result()).isEqualTo("x");
            Optional<Page> last = Optional.of(new Page(500));
            assertThat(seen).containsExactly(Optional.empty(), last, last, last);
            assertThat(history(run))
                    .startsWith(
                            "attempt 1 of step 'import' reported: 50 %, page 500",
                            "attempt 1 of step 'import' failed: java.lang.IllegalStateException: broken",
                            "attempt 2 of step 'import' failed: java.lang.IllegalStateException: broken");
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_history_of_a_step_that_failed_for_good_shows_how_far_its_last_attempt_was(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("import", (ctx, in) -> {
                ctx.step(
                        "import",
                        (StepAction) () -> {
                            ctx.attempt().progress(0.7, "page 7");
                            throw new IllegalStateException("broken");
                        },
                        retry(1));
                return in;
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("i-1"));

            assertThatThrownBy(run::result).isInstanceOf(RunFailedException.class);
            assertThat(history(run)).first().isEqualTo("attempt 1 of step 'import' reported: 70 %, page 7");
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_attempt_gets_its_last_heartbeat_after_a_crash(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<Optional<List<String>>> seen = new CopyOnWriteArrayList<>();
            CountDownLatch never = new CountDownLatch(1);
            Definition<String, String> flow = workflow("import", (ctx, in) -> {
                ctx.step("import", () -> {
                    Optional<List<String>> last = ctx.attempt().lastHeartbeat(new TypeRef<List<String>>() {});
                    seen.add(last);
                    if (last.isEmpty()) {
                        ctx.attempt().heartbeat(List.of("a", "b"));
                        await(never);
                    }
                });
                return in;
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("i-1"));
            until(() -> !run.progress().isEmpty());
            assertThat(run.progress().getFirst().text()).isEmpty();

            perdure.crash();

            assertThat(run.result()).isEqualTo("x");
            assertThat(seen).containsExactly(Optional.empty(), Optional.of(List.of("a", "b")));
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_crashed_attempt_that_fails_afterwards_does_not_hide_what_it_had_reported(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<Integer> seen = new CopyOnWriteArrayList<>();
            AtomicInteger bodies = new AtomicInteger();
            CountDownLatch never = new CountDownLatch(1);
            Definition<String, String> flow = workflow("import", (ctx, in) -> {
                ctx.step(
                        "import",
                        () -> {
                            switch (bodies.incrementAndGet()) {
                                case 1 -> {
                                    ctx.attempt().heartbeat(new Page(1));
                                    ctx.attempt().retryAfter(Duration.ZERO); // the time stands still meanwhile
                                    throw new IllegalStateException("first");
                                }
                                case 2 -> {
                                    ctx.attempt().heartbeat(new Page(2));
                                    ctx.attempt().progress(0.2, "second");
                                    await(never);
                                }
                                case 3 -> throw new IllegalStateException("after the crash");
                                default ->
                                    seen.add(ctx.attempt()
                                            .lastHeartbeat(Page.class)
                                            .orElseThrow()
                                            .number());
                            }
                        },
                        retry(QUICK));
                return in;
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("i-1"));
            until(() -> run.progress().stream()
                    .anyMatch(progress -> progress.message().equals("second")));

            perdure.crash();

            assertThat(run.result()).isEqualTo("x");
            assertThat(seen).containsExactly(2);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_run_that_is_retried_by_hand_goes_on_from_its_last_heartbeat(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicInteger bodies = new AtomicInteger();
            Definition<String, String> flow = workflow(
                    "import",
                    (ctx, in) -> ctx.step(
                            "import",
                            () -> {
                                if (bodies.incrementAndGet() == 1) {
                                    ctx.attempt().heartbeat(new Page(7));
                                    throw new IllegalStateException("down");
                                }
                                return "from " + ctx.attempt().lastHeartbeat(Page.class);
                            },
                            retry(1)));
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("i-1"));
            assertThatThrownBy(run::result).isInstanceOf(RunFailedException.class);

            run.retry();

            assertThat(run.result()).isEqualTo("from Optional[Page[number=7]]");
        }
    }

    @ParameterizedTest
    @EnumSource
    void another_life_begins_without_heartbeats(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("import", (ctx, in) -> {
                String last = ctx.step("import", () -> {
                    Optional<Page> before = ctx.attempt().lastHeartbeat(Page.class);
                    ctx.attempt().heartbeat(new Page(1));
                    return before.toString();
                });
                if (in.equals("first")) {
                    ctx.continueAsNew("second");
                }
                return last;
            });
            perdure.register(flow);
            assertThat(perdure.start(Invocation.of(flow, "first")).result()).isEqualTo("Optional.empty");
        }
    }

    @ParameterizedTest
    @EnumSource
    void steps_beside_each_other_report_each_for_itself(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            CountDownLatch seen = new CountDownLatch(1);
            Definition<String, String> flow = workflow("both", (ctx, in) -> {
                DurableFuture<String> a = ctx.stepAsync("a", () -> {
                    ctx.attempt().progress(0.1, "");
                    await(seen);
                    return "A";
                });
                DurableFuture<String> b = ctx.stepAsync("b", () -> {
                    ctx.attempt().progress(1, "done");
                    await(seen);
                    return "B";
                });
                return a.await() + b.await();
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("b-1"));

            until(() -> run.progress().size() == 2);
            assertThat(run.progress())
                    .extracting(progress -> progress.step() + ": " + progress.text())
                    .containsExactly("a: 10 %", "b: 100 %, done");
            seen.countDown();
            assertThat(run.result()).isEqualTo("AB");
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_asynchronous_step_gets_the_heartbeat_of_the_attempt_before(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow(
                    "async",
                    (ctx, in) -> ctx.stepAsync(
                                    "import",
                                    () -> {
                                        if (ctx.attempt().number() < 3) {
                                            ctx.attempt()
                                                    .heartbeat(new Page(
                                                            ctx.attempt().number()));
                                            throw new IllegalStateException("down");
                                        }
                                        return "from " + ctx.attempt().lastHeartbeat(Page.class);
                                    },
                                    retry(QUICK))
                            .await());
            perdure.register(flow);
            assertThat(perdure.start(Invocation.of(flow, "x")).result()).isEqualTo("from Optional[Page[number=2]]");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_body_that_hangs_ends_at_its_heartbeat_timeout(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            CountDownLatch never = new CountDownLatch(1);
            Definition<String, String> flow = workflow("hang", (ctx, in) -> {
                ctx.step(
                        "import",
                        () -> {
                            ctx.attempt().heartbeat(new Page(3));
                            never.await();
                        },
                        retry(1).timeout(Duration.ofHours(1)).heartbeatTimeout(SHORT));
                return in;
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("h-1"));
            assertThatThrownBy(run::result)
                    .hasMessageContaining("java.util.concurrent.TimeoutException: Step 'import' reported nothing for "
                            + "longer than PT0.05S, its heartbeat timeout.");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_body_extends_its_timeout(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            CountDownLatch never = new CountDownLatch(1);
            Definition<String, String> flow = workflow("slow", (ctx, in) -> {
                ctx.step("no timeout", () -> ctx.attempt().extend(SHORT));
                ctx.step(
                        "slow",
                        () -> {
                            ctx.attempt().extend(SHORT);
                            ctx.attempt().extend(SHORT);
                            never.await();
                        },
                        retry(1).timeout(SHORT));
                return in;
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("s-1"));
            assertThatThrownBy(run::result)
                    .hasMessageContaining("Step 'slow' took longer than PT0.15S, its extended timeout.");
        }
    }

    @ParameterizedTest
    @EnumSource
    void what_cannot_be_reported_is_refused_and_reports_nothing(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            String unit = "it must be a number from 0 to 1. Divide what is done by what there is to do.";
            Definition<String, String> flow = workflow("odd", (ctx, in) -> {
                ctx.step(
                        "odd",
                        (StepAction) () -> {
                            Attempt attempt = ctx.attempt();
                            for (double fraction : new double[] {Double.NaN, -0.1, 1.0001, Double.POSITIVE_INFINITY}) {
                                assertThatThrownBy(() -> attempt.progress(fraction, "x"))
                                        .isInstanceOf(InvalidRequestException.class)
                                        .hasMessage("The progress of step 'odd' is " + fraction + "; " + unit);
                            }
                            Map<String, String> messages = Map.of(
                                    "x".repeat(10_000_000),
                                    "has 10000000 characters; at most 1000 are allowed. Shorten it.",
                                    "a\u0000b",
                                    "holds the character U+0000 at index 1, which cannot be stored as text. Remove or encode it.",
                                    "\uD83D",
                                    "holds the character U+D83D at index 0, which cannot be stored as text. Remove or encode it.");
                            messages.forEach(
                                    (message, reason) -> assertThatThrownBy(() -> attempt.progress(0.5, message))
                                            .isInstanceOf(InvalidRequestException.class)
                                            .hasMessage("The progress message of step 'odd' " + reason));
                            assertThatThrownBy(() -> attempt.heartbeat("x".repeat(64 * 1024)))
                                    .isInstanceOf(PayloadException.class)
                                    .hasMessage(
                                            "The heartbeat of step 'odd' has 65538 bytes and the limit is 65536. Report what"
                                                    + " the next attempt needs to find its place, and store the rest elsewhere.");
                            for (Duration by : List.of(Duration.ZERO, Duration.ofMillis(-1), Duration.ofDays(40_000))) {
                                assertThatThrownBy(() -> attempt.extend(by))
                                        .isInstanceOf(InvalidRequestException.class)
                                        .hasMessage("The timeout of step 'odd' cannot be extended by " + by
                                                + "; the extension must be longer than zero and at most 36500 days.");
                            }
                            assertThat(attempt.lastHeartbeat(Page.class)).isEmpty();
                            throw new IllegalStateException("seen");
                        },
                        retry(1));
                return in;
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("o-1"));
            assertThatThrownBy(run::result).hasMessageContaining("java.lang.IllegalStateException: seen");
            assertThat(history(run)).hasSize(1).noneMatch(text -> text.contains("reported"));
        }
        assertThatThrownBy(() -> StepOptions.defaults().heartbeatTimeout(Duration.ZERO))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("The heartbeat timeout is PT0S; it must be longer than zero and at most 36500 days.");
    }

    @ParameterizedTest
    @EnumSource
    void a_heartbeat_of_another_type_fails_the_step_for_good(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("typed", (ctx, in) -> {
                ctx.step(
                        "import",
                        () -> {
                            if (ctx.attempt().number() == 1) {
                                ctx.attempt().heartbeat("a text");
                                throw new IllegalStateException("first");
                            }
                            ctx.attempt().lastHeartbeat(Page.class);
                        },
                        retry(QUICK));
                return in;
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("t-1"));
            assertThatThrownBy(run::result)
                    .hasMessageContaining(
                            "Step 'import' failed after 2 attempts: dev.perdure.error.PayloadException: The last"
                                    + " heartbeat of step 'import' cannot be read as " + Page.class.getName() + ".");
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_attempt_that_has_ended_can_do_nothing(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicReference<Attempt> kept = new AtomicReference<>();
            Definition<String, String> flow = workflow("late", (ctx, in) -> {
                ctx.step("import", (StepAction) () -> kept.set(ctx.attempt()));
                return in;
            });
            perdure.register(flow);
            assertThat(perdure.start(Invocation.of(flow, "x")).result()).isEqualTo("x");
            assertThatThrownBy(() -> kept.get().progress(0.5, "late"))
                    .isInstanceOf(ContextMisuseException.class)
                    .hasMessage(
                            "Attempt 1 of step 'import' has ended, so it can neither report nor take longer. Wait in"
                                    + " the body for the threads that use it, or stop them.");
            assertThatThrownBy(() -> kept.get().extend(Duration.ofSeconds(1)))
                    .isInstanceOf(ContextMisuseException.class);
            assertThatThrownBy(() -> kept.get().heartbeat()).isInstanceOf(ContextMisuseException.class);
            assertThatThrownBy(() -> kept.get().heartbeat("x")).isInstanceOf(ContextMisuseException.class);
            assertThatThrownBy(() -> kept.get().lastHeartbeat(Page.class)).isInstanceOf(ContextMisuseException.class);
        }
    }
}
