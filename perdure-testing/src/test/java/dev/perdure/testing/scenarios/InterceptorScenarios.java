package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static dev.perdure.StepOptions.retry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.DurableFuture;
import dev.perdure.Invocation;
import dev.perdure.Run;
import dev.perdure.dag.Dag;
import dev.perdure.interceptor.Interceptor;
import dev.perdure.interceptor.StepCall;
import dev.perdure.schedule.Schedule;
import dev.perdure.schedule.Times;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the application puts around bodies. */
abstract class InterceptorScenarios extends Scenarios {
    private static final ThreadLocal<@Nullable String> TENANT = new ThreadLocal<>();

    private final List<String> seen = new CopyOnWriteArrayList<>();

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
}
