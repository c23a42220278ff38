package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.HistoryEvent;
import dev.perdure.Invocation;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.WorkflowBody;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

abstract class DeterminismScenarios extends Scenarios {
    private static final Duration HOUR = Duration.ofHours(1);

    /** The journal of the runs below: step a, now, step b, a sleep of an hour. */
    private static final WorkflowBody<String, String> OLD = (ctx, in) -> {
        String a = ctx.step("a", () -> "A");
        ctx.now();
        String b = ctx.step("b", () -> "B");
        ctx.sleep(HOUR);
        return a + b + ctx.step("c", () -> "C");
    };

    /** A change of the code, the position where a replay notices it, and the text of the message. */
    private record Change(
            String title, WorkflowBody<String, String> code, int position, String recorded, String asked) {
        @Override
        public String toString() {
            return title;
        }
    }

    private static List<Change> changes() {
        return List.of(
                new Change(
                        "a_renamed_step", (ctx, in) -> ctx.step("renamed", () -> "A"), 1, "step 'a'", "step 'renamed'"),
                new Change(
                        "another_kind_of_call",
                        (ctx, in) -> {
                            ctx.step("a", () -> "A");
                            return ctx.step("b", () -> "B");
                        },
                        2,
                        "now()",
                        "step 'b'"),
                new Change(
                        "steps_swapped",
                        (ctx, in) -> {
                            ctx.step("b", () -> "B");
                            return ctx.step("a", () -> "A");
                        },
                        1,
                        "step 'a'",
                        "step 'b'"),
                new Change(
                        "a_wait_before_recorded_progress",
                        (ctx, in) -> {
                            ctx.sleep(HOUR);
                            return ctx.step("a", () -> "A");
                        },
                        1,
                        "step 'a'",
                        "sleep of PT1H"),
                new Change(
                        "another_duration",
                        (ctx, in) -> {
                            ctx.step("a", () -> "A");
                            ctx.now();
                            ctx.step("b", () -> "B");
                            ctx.sleep(Duration.ofHours(2));
                            return in;
                        },
                        4,
                        "sleep of PT1H",
                        "sleep of PT2H"),
                new Change(
                        "an_entry_missing_at_the_end",
                        (ctx, in) -> {
                            ctx.step("a", () -> "A");
                            ctx.now();
                            return "short";
                        },
                        3,
                        "step 'b'",
                        "the end of the workflow"),
                new Change(
                        "an_exception_before_the_recorded_end",
                        (ctx, in) -> {
                            ctx.step("a", () -> "A");
                            throw new IllegalStateException("new bug");
                        },
                        2,
                        "now()",
                        "the end of the workflow, by java.lang.IllegalStateException: new bug"),
                new Change(
                        "a_uuid_in_the_place_of_a_step", (ctx, in) -> ctx.uuid().toString(), 1, "step 'a'", "uuid()"),
                new Change(
                        "a_uuid_added",
                        (ctx, in) -> {
                            ctx.step("a", () -> "A");
                            ctx.now();
                            ctx.step("b", () -> "B");
                            return "" + ctx.random().nextInt();
                        },
                        4,
                        "sleep of PT1H",
                        "random()"),
                new Change(
                        "a_mismatch_that_the_workflow_catches",
                        (ctx, in) -> {
                            try {
                                return ctx.step("renamed", () -> "A");
                            } catch (Exception swallowed) {
                                return ctx.step("compensate", () -> "never");
                            }
                        },
                        1,
                        "step 'a'",
                        "step 'renamed'"),
                new Change(
                        "a_mismatch_that_the_workflow_catches_whatever_it_is",
                        (ctx, in) -> {
                            try {
                                return ctx.step("renamed", () -> "A");
                            } catch (Throwable swallowed) {
                                return "made up";
                            }
                        },
                        1,
                        "step 'a'",
                        "step 'renamed'"));
    }

    static Stream<Arguments> changesInEveryMode() {
        return Stream.of(TestMode.values())
                .flatMap(mode -> changes().stream().map(change -> Arguments.of(mode, change)));
    }

    @ParameterizedTest
    @MethodSource("changesInEveryMode")
    void code_that_does_not_fit_is_found_out_and_changes_nothing(TestMode mode, Object given) {
        Change change = (Change) given;
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> old = workflow("flow", OLD);
            perdure.register(old);
            Run<String> run = perdure.start(Invocation.of(old, "x"), id("run-7"));
            perdure.settle();
            List<HistoryEvent> journal = journal(run);
            perdure.deploy(workflow("flow", change.code()));
            perdure.advance(HOUR);

            assertThat(run.state()).isEqualTo(RunState.PAUSED);
            assertThat(run.info().reason().orElseThrow())
                    .startsWith(
                            "The code does not fit the journal of run 'run-7' at position %d: recorded is %s, the code asked for %s."
                                    .formatted(change.position(), change.recorded(), change.asked()))
                    .contains("ctx.patched(…)", "then resume the run");
            assertThat(journal(run)).isEqualTo(journal);

            perdure.deploy(old);
            run.resume();
            assertThat(run.result()).isEqualTo("ABC");
        }
    }

    private static List<HistoryEvent> journal(Run<?> run) {
        return run.history().stream().filter(event -> event.position() > 0).toList();
    }

    @ParameterizedTest
    @EnumSource
    void a_loop_one_shorter_is_found_out(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicInteger rounds = new AtomicInteger(3);
            Definition<String, String> flow = workflow("loop", (ctx, in) -> {
                for (int i = 0; i < rounds.get(); i++) {
                    ctx.step("round", () -> {});
                }
                ctx.sleep(HOUR);
                return in;
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            perdure.settle();
            rounds.set(2);
            perdure.advance(HOUR);
            assertThat(run.info().reason().orElseThrow())
                    .contains("at position 3: recorded is step 'round', the code asked for sleep of PT1H");
            rounds.set(3);
            run.resume();
            assertThat(run.result()).isEqualTo("x");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_sleep_skipped_by_chance_and_another_in_its_place_is_found_out(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicBoolean chance = new AtomicBoolean(true);
            Definition<String, String> flow = workflow("dice", (ctx, in) -> {
                if (chance.get()) {
                    ctx.sleep(Duration.ofSeconds(5));
                }
                ctx.sleep(Duration.ofSeconds(10));
                return in;
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("dice-1"));
            perdure.settle();
            chance.set(false);
            perdure.advance(Duration.ofSeconds(6));
            assertThat(run.state()).isEqualTo(RunState.PAUSED);
            assertThat(run.info().reason().orElseThrow())
                    .contains(
                            "run 'dice-1' at position 1: recorded is sleep of PT5S, the code asked for sleep of PT10S");
        }
    }

    public record Old(String name) {}

    public record New(int name) {}

    @ParameterizedTest
    @EnumSource
    void a_recorded_result_that_the_new_type_cannot_read_pauses_the_run(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> old = workflow("typed", (ctx, in) -> {
                String name = ctx.step("load", () -> new Old("n")).name();
                ctx.sleep(HOUR);
                return name;
            });
            Definition<String, String> changed = workflow("typed", (ctx, in) -> {
                String name;
                try {
                    name = "" + ctx.step("load", () -> new New(1)).name();
                } catch (Exception swallowed) {
                    name = "made up";
                }
                ctx.sleep(HOUR);
                return name;
            });
            perdure.register(old);
            Run<String> run = perdure.start(Invocation.of(old, "x"));
            perdure.settle();
            perdure.deploy(changed);
            perdure.advance(HOUR);
            assertThat(run.state()).isEqualTo(RunState.PAUSED);
            assertThat(run.info().reason().orElseThrow())
                    .contains("step 'load'", "cannot be read back", New.class.getTypeName())
                    .containsPattern("[^.]\\. Nothing was applied\\. Bring back the type");
            perdure.deploy(old);
            run.resume();
            assertThat(run.result()).isEqualTo("n");
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_last_recorded_result_that_cannot_be_read_pauses_the_run_too(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicBoolean once = new AtomicBoolean();
            Definition<String, String> old = workflow("typed", (ctx, in) -> {
                String name = ctx.step("load", () -> new Old("n")).name();
                if (once.compareAndSet(false, true)) {
                    perdure.run(ctx.runId(), dev.perdure.TypeRef.of(String.class))
                            .pause("deploy first");
                    perdure.crashBeforeNextCommit();
                }
                ctx.step("next", () -> {});
                return name;
            });
            Definition<String, String> changed =
                    workflow("typed", (ctx, in) -> "" + ctx.step("load", () -> new New(1)));
            perdure.register(old);
            Run<String> run = perdure.start(Invocation.of(old, "x"));
            perdure.settle();
            assertThat(run.state()).isEqualTo(RunState.PAUSED);
            perdure.deploy(changed);
            run.resume();
            perdure.settle();
            assertThat(run.state()).isEqualTo(RunState.PAUSED);
            assertThat(run.info().reason().orElseThrow()).contains("cannot be read back", New.class.getTypeName());
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_input_that_the_new_type_cannot_read_pauses_the_run(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<Old, String> old = Definition.of("input", Old.class, String.class, (ctx, in) -> in.name());
            Definition<New, String> changed =
                    Definition.of("input", New.class, String.class, (ctx, in) -> "" + in.name());
            perdure.register(workflow("other", (ctx, in) -> in));
            Run<String> run = perdure.start(Invocation.of(old, new Old("n")));
            perdure.deploy(changed);
            perdure.settle();
            assertThat(run.state()).isEqualTo(RunState.PAUSED);
            assertThat(run.info().reason().orElseThrow())
                    .contains("input", "cannot be read back", New.class.getTypeName())
                    .containsPattern("[^.]\\. Nothing was applied\\. Bring back the type");
            perdure.deploy(old);
            run.resume();
            assertThat(run.result()).isEqualTo("n");
        }
    }

    @ParameterizedTest
    @EnumSource
    void unknown_names_of_steps_are_refused_before_anything_is_written(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("names", (ctx, in) -> ctx.step(in, () -> "ok"));
            perdure.register(flow);
            for (String bad : List.of("\u0000", "a\uD800", "\uDC00b", "n".repeat(201), "line\nbreak")) {
                Run<String> run = perdure.start(Invocation.of(flow, bad));
                assertThatThrownBy(run::result)
                        .hasMessageContaining("dev.perdure.error.InvalidRequestException: The step name");
                assertThat(journal(run)).isEmpty();
            }
            assertThat(perdure.start(Invocation.of(flow, "four bytes: 😀, at most 200"))
                            .result())
                    .isEqualTo("ok");
        }
    }
}
