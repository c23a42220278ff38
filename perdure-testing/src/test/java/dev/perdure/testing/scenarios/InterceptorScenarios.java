package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static dev.perdure.StepOptions.retry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.DurableFuture;
import dev.perdure.Invocation;
import dev.perdure.Run;
import dev.perdure.StepOptions;
import dev.perdure.dag.Dag;
import dev.perdure.interceptor.Interceptor;
import dev.perdure.interceptor.StepCall;
import dev.perdure.interceptor.Unwinding;
import dev.perdure.interceptor.WorkflowCall;
import dev.perdure.schedule.Schedule;
import dev.perdure.schedule.Times;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import dev.perdure.transaction.TransactionOptions;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the application puts around bodies. */
abstract class InterceptorScenarios extends Scenarios {
    private static final ThreadLocal<@Nullable String> TENANT = new ThreadLocal<>();

    private final List<String> seen = new CopyOnWriteArrayList<>();
    private final List<String> entries = new CopyOnWriteArrayList<>();

    /** Takes the tenant of the workflow's thread to the body. */
    private static final class Tenants implements Interceptor {
        @Override
        public <T extends @Nullable Object> Callable<T> step(StepCall call, Callable<T> body) {
            String tenant = TENANT.get();
            return () -> {
                String before = TENANT.get();
                TENANT.set(tenant);
                try {
                    return body.call();
                } finally {
                    TENANT.set(before);
                }
            };
        }
    }

    /** Notes which bodies run, and how. */
    private final class Notes implements Interceptor {
        private final String name;

        Notes(String name) {
            this.name = name;
        }

        @Override
        public <T extends @Nullable Object> Callable<T> workflow(WorkflowCall call, Callable<T> code) {
            return () -> {
                entries.add("%s enters %s%s".formatted(name, call.run(), call.replaying() ? " again" : ""));
                try {
                    T result = code.call();
                    entries.add("%s sees %s".formatted(name, result));
                    return result;
                } catch (Unwinding leaves) {
                    entries.add("%s sees it leave".formatted(name));
                    throw leaves;
                }
            };
        }

        @Override
        public <T extends @Nullable Object> Callable<T> step(StepCall call, Callable<T> body) {
            return () -> {
                seen.add("%s before %s of %s %s".formatted(name, call.step(), call.definition(), call.run()));
                T result = body.call();
                seen.add("%s after %s".formatted(name, call.step()));
                return result;
            };
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_thread_local_of_the_workflow_reaches_every_kind_of_step(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Vault vault = new Vault();
            Definition<String, String> flow = workflow("flow", (ctx, in) -> {
                TENANT.set(in);
                String one = ctx.step("one", () -> "step " + TENANT.get());
                DurableFuture<String> two = ctx.stepAsync("two", () -> "async " + TENANT.get());
                TENANT.set("another");
                ctx.sleep(Duration.ofHours(1));
                TENANT.set(in);
                String three = ctx.transaction("three", vault, numbers -> "transaction " + TENANT.get());
                return String.join(", ", one, two.await(), three);
            });
            perdure.register(flow).interceptor(new Tenants());
            assertThat(perdure.start(Invocation.of(flow, "acme")).result())
                    .isEqualTo("step acme, async acme, transaction acme");
        }
    }

    @ParameterizedTest
    @EnumSource
    void interceptors_run_once_for_each_attempt_and_not_for_what_the_journal_answers(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("flow", (ctx, in) -> {
                ctx.step(
                        "pay",
                        () -> {
                            if (ctx.attempt().number() == 1) {
                                throw new IllegalStateException("busy");
                            }
                            return "paid";
                        },
                        retry(2));
                ctx.sleep(Duration.ofDays(1));
                return in;
            });
            perdure.register(flow).interceptor(new Notes("outer")).interceptor(new Notes("inner"));
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("r"));
            perdure.settle();
            perdure.advance(Duration.ofHours(1));
            perdure.crash();
            assertThat(run.result()).isEqualTo("x");
            assertThat(seen)
                    .containsExactly(
                            "outer before pay of flow r",
                            "inner before pay of flow r",
                            "outer before pay of flow r",
                            "inner before pay of flow r",
                            "inner after pay",
                            "outer after pay");
            assertThat(entries).startsWith("outer enters r", "inner enters r").endsWith("inner sees x", "outer sees x");
            assertThat(entries)
                    .containsSubsequence(
                            "inner enters r",
                            "inner sees it leave",
                            "outer sees it leave",
                            "outer enters r again",
                            "inner enters r again");
        }
    }

    @ParameterizedTest
    @EnumSource
    void tasks_are_intercepted_and_the_engines_own_steps_are_not(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Dag<String, String> dag = Dag.of("dag", String.class, d -> d.task("cut", task -> task.input()));
            Definition<String, String> flow = workflow("flow", (ctx, in) -> in);
            perdure.register(dag, flow).interceptor(new Notes("n"));
            assertThat(perdure.start(dag, "x", id("d")).result()).isEqualTo("x");
            perdure.schedules().put(Schedule.of("daily", Times.every(Duration.ofDays(1)), Invocation.of(flow, "x")));
            perdure.advance(Duration.ofDays(2));
            assertThat(seen).hasSize(2).first().asString().startsWith("n before cut of dag");
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_interceptor_cannot_change_how_a_run_ends(TestMode mode) {
        Interceptor meddling = new Interceptor() {
            @Override
            public <T extends @Nullable Object> Callable<T> workflow(WorkflowCall call, Callable<T> code) {
                return () -> {
                    try {
                        code.call();
                    } catch (Throwable swallowed) {
                        seen.add(String.valueOf(swallowed.getMessage()));
                    }
                    throw new IllegalStateException("meddled");
                };
            }
        };
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("flow", (ctx, in) -> {
                ctx.sleep(Duration.ofDays(1));
                if (in.equals("bad")) {
                    throw new IOException("disk full"); // a checked exception passes as it is
                }
                return in;
            });
            perdure.register(flow).interceptor(meddling);
            assertThat(perdure.start(Invocation.of(flow, "good")).result()).isEqualTo("good");
            Run<String> bad = perdure.start(Invocation.of(flow, "bad"));
            assertThatThrownBy(bad::result).hasMessageContaining("java.io.IOException: disk full");
            assertThat(seen).contains("disk full");
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_code_of_a_run_is_called_once_and_on_its_own_thread(TestMode mode) {
        Interceptor twice = new Interceptor() {
            @Override
            public <T extends @Nullable Object> Callable<T> workflow(WorkflowCall call, Callable<T> code) {
                return () -> {
                    Thread other = Thread.ofVirtual().start(() -> note(code));
                    other.join();
                    T result = code.call();
                    note(code);
                    return result;
                };
            }

            private void note(Callable<?> code) {
                try {
                    code.call();
                } catch (Exception refused) {
                    seen.add(String.valueOf(refused.getMessage()));
                }
            }
        };
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("flow", (ctx, in) -> in);
            perdure.register(flow).interceptor(twice);
            assertThat(perdure.start(Invocation.of(flow, "x"), id("r")).result())
                    .isEqualTo("x");
            assertThat(seen)
                    .containsExactly(
                            "An interceptor calls the code of run 'r' on another thread. Call it once, on the thread on which the engine calls the interceptor.",
                            "An interceptor calls the code of run 'r' twice. Call it once, on the thread on which the engine calls the interceptor.");
        }
    }

    @ParameterizedTest
    @EnumSource
    void what_an_interceptor_throws_fails_the_attempt(TestMode mode) {
        Interceptor refusing = new Interceptor() {
            @Override
            public <T extends @Nullable Object> Callable<T> step(StepCall call, Callable<T> body) {
                throw new IllegalStateException("no tenant");
            }
        };
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> plain = workflow("plain", (ctx, in) -> ctx.step("one", () -> in, retry(2)));
            Definition<String, String> beside = workflow(
                    "beside",
                    (ctx, in) -> ctx.stepAsync("two", () -> in, retry(2)).await());
            perdure.register(plain, beside).interceptor(refusing);
            assertThatThrownBy(perdure.start(Invocation.of(plain, "x"))::result)
                    .hasMessageContaining(
                            "Step 'one' failed after 2 attempts: java.lang.IllegalStateException: no tenant");
            assertThatThrownBy(perdure.start(Invocation.of(beside, "x"))::result)
                    .hasMessageContaining(
                            "Step 'two' failed after 2 attempts: java.lang.IllegalStateException: no tenant");
        }
    }

    /** Notes how attempts end. */
    private final class Endings implements Interceptor {
        @Override
        public <T extends @Nullable Object> Callable<T> step(StepCall call, Callable<T> body) {
            return () -> {
                try {
                    T result = body.call();
                    seen.add("%s returns %s".formatted(call.step(), result));
                    return result;
                } catch (Exception thrown) {
                    seen.add("%s throws %s%s"
                            .formatted(
                                    call.step(),
                                    thrown,
                                    Thread.currentThread().isInterrupted() ? ", still interrupted" : ""));
                    throw thrown;
                }
            };
        }
    }

    private static String heedless(CountDownLatch never) {
        try {
            never.await();
        } catch (InterruptedException late) {
            Thread.currentThread().interrupt();
        }
        return "late";
    }

    @ParameterizedTest
    @EnumSource
    void an_interceptor_sees_the_timeout_that_the_engine_records(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            CountDownLatch never = new CountDownLatch(1);
            Vault vault = new Vault();
            StepOptions brief = retry(1).timeout(Duration.ofMillis(20));
            Definition<String, String> flow = workflow("flow", (ctx, in) -> {
                List<DurableFuture<String>> beside =
                        List.of(ctx.stepAsync("two", () -> heedless(never), brief), ctx.stepAsync("three", () -> in));
                assertThatThrownBy(() -> ctx.step("one", () -> heedless(never), brief))
                        .hasRootCauseMessage("Step 'one' took longer than PT0.02S.");
                assertThatThrownBy(() -> beside.getFirst().await())
                        .hasRootCauseMessage("Step 'two' took longer than PT0.02S.");
                assertThatThrownBy(() -> ctx.transaction(
                                "four",
                                vault,
                                numbers -> {
                                    never.await();
                                    return in;
                                },
                                TransactionOptions.defaults().retry(1).timeout(Duration.ofMillis(20))))
                        .hasMessageContaining("Step 'four' took longer than PT0.02S.");
                return beside.getLast().await();
            });
            perdure.register(flow).interceptor(new Endings());
            assertThat(perdure.start(Invocation.of(flow, "x")).result()).isEqualTo("x");
            String late = "%s throws java.util.concurrent.TimeoutException: Step '%1$s' took longer than PT0.02S.";
            assertThat(seen)
                    .containsExactlyInAnyOrder(
                            late.formatted("one"), late.formatted("two"), "three returns x", late.formatted("four"));
        }
    }
}
