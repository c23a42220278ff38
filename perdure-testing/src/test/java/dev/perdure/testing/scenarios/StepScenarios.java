package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static dev.perdure.StepOptions.retry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.StepBody;
import dev.perdure.StepOptions;
import dev.perdure.TypeRef;
import dev.perdure.error.RunFailedException;
import dev.perdure.error.StepFailedException;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

abstract class StepScenarios extends Scenarios {
    public record Item(String name, List<Integer> sizes) {}

    @ParameterizedTest
    @EnumSource
    void a_recorded_step_never_runs_again_and_gives_the_same_value(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicInteger bodies = new AtomicInteger();
            List<Object> seen = new CopyOnWriteArrayList<>();
            Definition<String, String> flow = workflow("values", (ctx, in) -> {
                seen.clear();
                seen.add(ctx.step("record", () -> new Item("a" + bodies.incrementAndGet(), List.of(1, 2))));
                seen.add(ctx.step("text", () -> "b" + bodies.incrementAndGet()));
                seen.add(ctx.step(
                        "list",
                        StepBody.returning(new TypeRef<List<Item>>() {}, () -> List.of(new Item("c", List.of())))));
                seen.add(Optional.ofNullable(ctx.<String>step("null", () -> null)));
                ctx.step("void", bodies::incrementAndGet);
                ctx.sleep(Duration.ofHours(1));
                return in;
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            perdure.settle();
            List<Object> first = List.copyOf(seen);
            perdure.crash();
            assertThat(run.result()).isEqualTo("x");
            assertThat(seen)
                    .isEqualTo(first)
                    .containsExactly(
                            new Item("a1", List.of(1, 2)), "b2", List.of(new Item("c", List.of())), Optional.empty());
            assertThat(bodies).hasValue(3);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_workflow_may_return_null_or_nothing(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> none = workflow("none", (ctx, in) -> null);
            Definition<String, Void> empty = Definition.of("void", String.class, Void.class, (ctx, in) -> null);
            perdure.register(none, empty);
            assertThat(perdure.start(Invocation.of(none, "x")).result()).isNull();
            Run<Void> run = perdure.start(Invocation.of(empty, "x"));
            assertThat(run.result()).isNull();
            assertThat(run.resultNow()).isEmpty();
            assertThat(run.state()).isEqualTo(RunState.COMPLETED);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_body_may_throw_a_checked_exception(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow(
                    "checked",
                    (ctx, in) -> ctx.step(
                            "fail",
                            () -> {
                                throw new java.io.IOException("disk");
                            },
                            retry(1)));
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            assertThatThrownBy(run::result)
                    .isInstanceOf(RunFailedException.class)
                    .hasMessageContaining("Step 'fail' failed after 1 attempt: java.io.IOException: disk");
        }
    }

    @ParameterizedTest
    @EnumSource
    void code_after_a_step_sees_its_result_only_when_it_is_stored(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicInteger bodies = new AtomicInteger();
            List<Integer> after = new CopyOnWriteArrayList<>();
            AtomicBoolean crashed = new AtomicBoolean();
            Definition<String, Integer> flow = Definition.of("cause", String.class, Integer.class, (ctx, in) -> {
                int number = ctx.step("effect", () -> {
                    if (crashed.compareAndSet(false, true)) {
                        perdure.crashBeforeNextCommit();
                    }
                    return bodies.incrementAndGet();
                });
                after.add(number);
                return number;
            });
            perdure.register(flow);
            assertThat(perdure.start(Invocation.of(flow, "x")).result()).isEqualTo(2);
            assertThat(bodies).hasValue(2);
            assertThat(after).containsOnly(2);
        }
    }

    @ParameterizedTest
    @EnumSource
    void what_needs_no_answer_is_durable_before_the_next_body_starts(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> history = new CopyOnWriteArrayList<>();
            Definition<String, String> flow = workflow("ride", (ctx, in) -> {
                Instant now = ctx.now();
                ctx.step(
                        "look",
                        () -> perdure.run(ctx.runId(), TypeRef.of(String.class)).history().stream()
                                .filter(event -> event.position() == 1)
                                .forEach(event -> history.add(event.text())));
                return now.toString();
            });
            perdure.register(flow);
            assertThat(perdure.start(Invocation.of(flow, "x")).result()).isEqualTo("2030-01-01T00:00:00Z");
            assertThat(history).containsExactly("time read");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_result_that_cannot_be_stored_fails_the_step_without_another_effect_and_names_step_and_type(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.maxPayloadBytes(10_000);
            Definition<String, String> flow = workflow("large", (ctx, in) -> {
                try {
                    return ctx.step("fetch", () -> "x".repeat(20_000), retry(2));
                } catch (StepFailedException failed) {
                    return failed.attempts() + " " + failed.errorType() + " " + failed.getMessage();
                }
            });
            perdure.register(flow);
            assertThat(perdure.start(Invocation.of(flow, "x")).result())
                    .startsWith("1 dev.perdure.error.PayloadException")
                    .contains("The result of step 'fetch' (java.lang.String) cannot be stored: it has 20002 bytes");
        }
    }

    public static class Animal {
        public String name = "";
    }

    public static class Dog extends Animal {
        public int bones = 3;
    }

    @ParameterizedTest
    @EnumSource
    void a_result_that_would_not_come_back_as_it_is_fails_the_attempt(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("lossy", (ctx, in) -> {
                try {
                    return ctx.step("pet", StepBody.returning(TypeRef.of(Animal.class), Dog::new), retry(1)).name;
                } catch (StepFailedException failed) {
                    return failed.getMessage();
                }
            });
            perdure.register(flow);
            assertThat(perdure.start(Invocation.of(flow, "x")).result())
                    .contains("Step 'pet'", Animal.class.getTypeName(), "cannot be stored");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_step_type_that_cannot_be_read_back_is_refused_by_the_first_execution(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicInteger bodies = new AtomicInteger();
            Supplier<List<String>> source = () -> List.of("n" + bodies.incrementAndGet());
            Definition<String, Integer> flow = Definition.of(
                    "raw",
                    String.class,
                    Integer.class,
                    (ctx, in) -> ctx.step("names", () -> source.get()).size());
            perdure.register(flow);
            Run<Integer> run = perdure.start(Invocation.of(flow, "x"));
            assertThatThrownBy(run::result)
                    .hasMessageContaining("The result type of step 'names' cannot be used.")
                    .hasMessageContaining(
                            "State it: StepBody.returning(new TypeRef<…>() {}, () -> …), or () -> { …; } if the step has no result.");
            assertThat(bodies).hasValue(0);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_step_timeout_interrupts_the_body_and_its_late_result_is_ignored(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicInteger bodies = new AtomicInteger();
            List<String> interrupted = new CopyOnWriteArrayList<>();
            CountDownLatch never = new CountDownLatch(1);
            StepOptions quick = retry(3).timeout(Duration.ofMillis(30));
            Definition<String, String> flow = workflow(
                    "slow",
                    (ctx, in) -> ctx.step(
                            "call",
                            () -> {
                                int attempt = ctx.attempt().number();
                                bodies.incrementAndGet();
                                if (attempt < 3) {
                                    try {
                                        await(never);
                                    } catch (InterruptedException stop) {
                                        interrupted.add("attempt " + attempt);
                                    }
                                    return "late " + attempt;
                                }
                                return "in time";
                            },
                            quick));
            perdure.register(flow);
            assertThat(perdure.start(Invocation.of(flow, "x")).result()).isEqualTo("in time");
            assertThat(bodies).hasValue(3);
            assertThat(interrupted).containsExactly("attempt 1", "attempt 2");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_step_that_times_out_for_good_says_so(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            CountDownLatch never = new CountDownLatch(1);
            Definition<String, String> flow = workflow(
                    "stuck",
                    (ctx, in) -> ctx.step(
                            "call",
                            () -> {
                                await(never);
                                return in;
                            },
                            retry(1).timeout(Duration.ofMillis(20))));
            perdure.register(flow);
            assertThatThrownBy(perdure.start(Invocation.of(flow, "x"))::result)
                    .hasMessageContaining(
                            "java.util.concurrent.TimeoutException: Step 'call' took longer than PT0.02S.");
        }
    }

    @ParameterizedTest
    @EnumSource
    void now_uuid_and_random_are_the_same_on_every_replay(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Set<String> seen = ConcurrentHashMap.newKeySet();
            AtomicInteger entered = new AtomicInteger();
            Definition<String, String> flow = workflow("chance", (ctx, in) -> {
                entered.incrementAndGet();
                List<Object> values = new ArrayList<>();
                values.add(ctx.now());
                values.add(ctx.uuid());
                values.add(ctx.random().nextInt());
                ctx.sleep(Duration.ofDays(1));
                values.add(ctx.now());
                values.add(ctx.uuid());
                ctx.step("mark", () -> {});
                values.add(ctx.random().nextLong());
                ctx.sleep(Duration.ofDays(1));
                seen.add(values.toString());
                return values.toString();
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            perdure.advance(Duration.ofHours(30));
            perdure.crash();
            String result = run.result();
            assertThat(seen).containsExactly(result);
            assertThat(entered.get()).isGreaterThanOrEqualTo(3);
            assertThat(result).contains("2030-01-01T00:00:00Z", "2030-01-02T00:00:00Z");
        }
    }

    @ParameterizedTest
    @EnumSource
    void two_calls_of_uuid_differ_and_so_do_two_runs(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("ids", (ctx, in) -> {
                UUID one = ctx.uuid();
                UUID two = ctx.uuid();
                assertThat(one).isNotEqualTo(two);
                assertThat(one.version()).isEqualTo(8);
                return one.toString();
            });
            perdure.register(flow);
            assertThat(perdure.start(Invocation.of(flow, "x"), id("one")).result())
                    .isNotEqualTo(
                            perdure.start(Invocation.of(flow, "x"), id("two")).result());
        }
    }
}
