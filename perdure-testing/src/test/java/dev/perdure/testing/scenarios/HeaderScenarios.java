package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.TypeRef;
import dev.perdure.dag.Dag;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.UnknownRunException;
import dev.perdure.interceptor.Interceptor;
import dev.perdure.interceptor.StartCall;
import dev.perdure.interceptor.StepCall;
import dev.perdure.interceptor.WorkflowCall;
import dev.perdure.object.Handler;
import dev.perdure.object.ObjectContext;
import dev.perdure.object.VirtualObject;
import dev.perdure.schedule.Schedule;
import dev.perdure.schedule.Times;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What an interceptor gives a run at its start, and where the run and the runs that it starts have it. */
abstract class HeaderScenarios extends Scenarios {
    private static final ThreadLocal<@Nullable String> TENANT = new ThreadLocal<>();

    private final List<String> starts = new CopyOnWriteArrayList<>();
    private final List<String> bodies = new CopyOnWriteArrayList<>();

    /** Takes the tenant of a caller into the runs, and notes where it arrives. */
    private final class Tenants implements Interceptor {
        @Override
        public StartCall start(StartCall call) {
            starts.add("%s by %s with %s"
                    .formatted(
                            call.definition(),
                            call.startedBy().map(RunId::value).orElse("a caller"),
                            call.headers().get("tenant")));
            String tenant = TENANT.get();
            return tenant == null ? call : call.with("tenant", tenant);
        }

        @Override
        public <T extends @Nullable Object> Callable<T> step(StepCall call, Callable<T> body) {
            bodies.add("%s of %s in %s: %s, attempt %d"
                    .formatted(
                            call.step(),
                            call.definition(),
                            call.workflow().queue(),
                            call.workflow().headers().get("tenant"),
                            call.attempt()));
            return body;
        }
    }

    /** A virtual object that calls another one. */
    @VirtualObject("account")
    static class Account {
        @Handler
        String open(ObjectContext ctx) {
            return ctx.step("open", () -> "opened");
        }
    }

    private static <T> T as(String tenant, Callable<T> action) throws Exception {
        TENANT.set(tenant);
        try {
            return action.call();
        } finally {
            TENANT.remove();
        }
    }

    @ParameterizedTest
    @EnumSource
    void headers_are_there_after_waits_and_crashes_and_in_the_runs_that_a_run_starts(TestMode mode) throws Exception {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> child = workflow("child", (ctx, in) -> ctx.step("work", () -> in));
            Definition<String, String> flow = workflow("flow", (ctx, in) -> {
                ctx.step("before", () -> in);
                ctx.sleep(Duration.ofDays(1));
                ctx.call(Invocation.of(child, in));
                return ctx.object(Account.class, "a").call(Account::open);
            });
            perdure.register(flow, child, new Account()).interceptor(new Tenants());
            Run<String> run = as("acme", () -> perdure.start(Invocation.of(flow, "x"), id("r")));
            perdure.settle();
            perdure.crash();
            assertThat(run.result()).isEqualTo("opened");
            assertThat(bodies)
                    .containsExactly(
                            "before of flow in default: acme, attempt 1",
                            "work of child in default: acme, attempt 1",
                            "open of account/open in default: acme, attempt 1");
            assertThat(starts)
                    .as("none of them again on a replay")
                    .containsExactly(
                            "flow by a caller with null", "child by r with acme", "account/open by r with acme");
            assertThat(run.info().description().headers()).isEqualTo(Map.of("tenant", "acme"));
        }
    }

    @ParameterizedTest
    @EnumSource
    void tasks_have_the_headers_of_their_dag_and_calls_from_outside_their_own(TestMode mode) throws Exception {
        try (PerdureTest perdure = create(mode)) {
            Dag<String, String> dag = Dag.of("dag", String.class, d -> {
                var cut = d.task("cut", task -> task.input());
                return d.after(cut).task("sew", (task, cloth) -> cloth + "!");
            });
            perdure.register(dag, new Account()).interceptor(new Tenants());
            assertThat(as("acme", () -> perdure.start(dag, "x", id("d"))).result())
                    .isEqualTo("x!");
            assertThat(as("umbrella", () -> perdure.object(Account.class, "a").call(Account::open)))
                    .isEqualTo("opened");
            assertThat(bodies)
                    .containsExactly(
                            "cut of dag/cut in default: acme, attempt 1",
                            "sew of dag/sew in default: acme, attempt 1",
                            "open of account/open in default: umbrella, attempt 1");
            assertThat(starts).containsExactly("dag by a caller with null", "account/open by a caller with null");
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_runs_of_a_schedule_get_headers_when_they_start(TestMode mode) {
        Interceptor all = new Interceptor() {
            @Override
            public StartCall start(StartCall call) {
                return call.with("tenant", call.startedBy().orElseThrow().value());
            }
        };
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("flow", (ctx, in) -> ctx.step("work", () -> in));
            perdure.register(flow).interceptor(new Tenants()).interceptor(all);
            perdure.schedules().put(Schedule.of("daily", Times.every(Duration.ofDays(1)), Invocation.of(flow, "x")));
            perdure.advance(Duration.ofDays(1));
            assertThat(starts).containsExactly("flow by schedule:daily with null");
            assertThat(bodies).containsExactly("work of flow in default: schedule:daily, attempt 1");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_start_that_an_interceptor_refuses_starts_nothing(TestMode mode) {
        Interceptor refusing = new Interceptor() {
            @Override
            public StartCall start(StartCall call) {
                if (call.definition().equals("flow")) {
                    throw new SecurityException("nobody is logged in");
                }
                return call.with("tenant", "a\nb");
            }
        };
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("flow", (ctx, in) -> in);
            Definition<String, String> other = workflow("other", (ctx, in) -> in);
            perdure.register(flow, other).interceptor(refusing);
            assertThatThrownBy(() -> perdure.start(Invocation.of(flow, "x"), id("a")))
                    .isInstanceOf(SecurityException.class)
                    .hasMessage("nobody is logged in");
            assertThatThrownBy(() -> perdure.start(Invocation.of(other, "x"), id("b")))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessage(
                            "The header 'tenant' holds the character U+000A at index 1, which cannot be stored as text. Remove or encode it.");
            for (String run : List.of("a", "b")) {
                assertThatThrownBy(() -> perdure.run(RunId.of(run), TypeRef.of(String.class))
                                .info())
                        .isInstanceOf(UnknownRunException.class);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_interceptor_that_throws_in_a_run_pauses_it(TestMode mode) {
        Interceptor broken = new Interceptor() {
            @Override
            public StartCall start(StartCall call) {
                if (call.startedBy().isPresent()) {
                    throw new IllegalStateException("no tenant");
                }
                return call;
            }

            @Override
            public <T extends @Nullable Object> Callable<T> workflow(WorkflowCall call, Callable<T> code) {
                if (call.definition().equals("never")) {
                    return () -> null;
                }
                if (call.definition().equals("early")) {
                    throw new IllegalStateException("no trace");
                }
                return code;
            }
        };
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> never = workflow("never", (ctx, in) -> in);
            Definition<String, String> early = workflow("early", (ctx, in) -> in);
            Definition<String, String> parent = workflow("parent", (ctx, in) -> ctx.call(Invocation.of(never, in)));
            perdure.register(never, early, parent).interceptor(broken);
            List<Run<String>> runs = perdure.startAll(
                    List.of(never, early, parent),
                    each -> Invocation.of(each, "x"),
                    each -> StartOptions.id(each.name()));
            perdure.settle();
            assertThat(runs).extracting(Run::state).containsOnly(RunState.PAUSED);
            assertThat(runs)
                    .extracting(run -> run.info().reason().orElseThrow())
                    .satisfiesExactly(
                            reason -> assertThat(reason)
                                    .isEqualTo(
                                            "The code of run 'never' was not called, because an interceptor did not call it. Fix the interceptor, deploy that, then resume the run."),
                            reason -> assertThat(reason)
                                    .isEqualTo(
                                            "The code of run 'early' was not called, because an interceptor threw java.lang.IllegalStateException: no trace. Fix the interceptor, deploy that, then resume the run."),
                            reason -> assertThat(reason)
                                    .startsWith(
                                            "An interceptor threw java.lang.IllegalStateException: no tenant when run 'parent' started run 'parent/1-"));
        }
    }
}
