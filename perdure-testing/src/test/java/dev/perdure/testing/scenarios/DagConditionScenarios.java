package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.RunState;
import dev.perdure.Topic;
import dev.perdure.dag.Dag;
import dev.perdure.dag.DagRun;
import dev.perdure.dag.DagStatus;
import dev.perdure.dag.TaskStatus;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tasks with conditions, and tasks that wait for an event or a time. */
abstract class DagConditionScenarios extends Scenarios {
    private static final Topic<String> APPROVED = Topic.of("approved", String.class);
    private static final Duration HOUR = Duration.ofHours(1);

    private static TaskStatus task(DagRun<?> run, String name) {
        return run.status().task(name).orElseThrow();
    }

    private static Dag<Integer, String> branches() {
        return Dag.of("branches", Integer.class, dag -> {
            var number = dag.task("number", t -> t.input());
            var left = dag.after(number).task("left", (t, n) -> "left").onlyIf((t, n) -> n < 10);
            var right = dag.after(number).task("right", (t, n) -> "right").onlyIf((t, n) -> n >= 10);
            return dag.after(left, right).task("join", (t, one, two) -> one + "/" + two);
        });
    }

    @ParameterizedTest
    @EnumSource
    void one_branch_runs_and_the_other_is_skipped_and_null(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Dag<Integer, String> dag = branches();
            perdure.register(dag);
            DagRun<String> low = perdure.start(dag, 1);
            DagRun<String> high = perdure.start(dag, 10);
            assertThat(low.result()).isEqualTo("left/null");
            assertThat(high.result()).isEqualTo("null/right");
            assertThat(task(low, "right").state()).isEqualTo(RunState.SKIPPED);
            assertThat(task(low, "right").reason()).contains("its condition onlyIf did not hold");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_skip_goes_on_down_the_line_and_the_run_completes_without_a_result(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicInteger ran = new AtomicInteger();
            Dag<Integer, Integer> dag = Dag.of("chain", Integer.class, builder -> {
                var a = builder.task("a", t -> ran.incrementAndGet()).onlyIf(t -> t.input() > 0);
                var b = builder.after(a).task("b", (t, one) -> ran.incrementAndGet());
                return builder.after(b).task("c", (t, one) -> ran.incrementAndGet());
            });
            perdure.register(dag);
            DagRun<Integer> run = perdure.start(dag, 0);
            assertThat(run.result()).isNull();
            assertThat(run.status().tasks()).extracting(TaskStatus::state).containsOnly(RunState.SKIPPED);
            assertThat(task(run, "c").reason()).contains("all that it comes after were skipped: b");
            assertThat(ran).hasValue(0);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_condition_that_throws_fails_its_task_at_once(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicInteger asked = new AtomicInteger();
            Dag<Integer, Integer> dag = Dag.of(
                    "odd",
                    Integer.class,
                    builder -> builder.task("a", t -> 1).onlyIf(t -> {
                        asked.incrementAndGet();
                        throw new IllegalStateException("cannot say");
                    }));
            perdure.register(dag);
            DagRun<Integer> run = perdure.start(dag, 0);
            assertThatThrownBy(run::result)
                    .hasMessageContaining(
                            "Step 'onlyIf' failed after 1 attempt: java.lang.IllegalStateException: cannot say");
            assertThat(asked).hasValue(1);
            assertThat(task(run, "a").state()).isEqualTo(RunState.FAILED);
        }
    }

    @ParameterizedTest
    @EnumSource
    void skip_beats_cancel_beats_run(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicInteger ran = new AtomicInteger();
            Dag<Integer, Integer> dag = Dag.of("ranks", Integer.class, builder -> {
                var a = builder.task("a", t -> ran.incrementAndGet())
                        .onlyIf(t -> t.input() != 0)
                        .cancelIf(t -> t.input() < 2);
                return builder.after(a).task("b", (t, one) -> one);
            });
            perdure.register(dag);
            DagRun<Integer> skipped = perdure.start(dag, 0);
            DagRun<Integer> cancelled = perdure.start(dag, 1);
            DagRun<Integer> run = perdure.start(dag, 2);
            assertThat(skipped.result()).isNull();
            assertThat(task(skipped, "a").state()).isEqualTo(RunState.SKIPPED);
            assertThatThrownBy(cancelled::result)
                    .hasMessageContaining("CANCELLED: because task 'a' was cancelled: its condition cancelIf held");
            assertThat(task(cancelled, "a").state()).isEqualTo(RunState.CANCELLED);
            assertThat(run.result()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_condition_is_asked_once_although_the_worker_dies(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicInteger asked = new AtomicInteger();
            Dag<Integer, Integer> dag = Dag.of(
                    "asked",
                    Integer.class,
                    builder -> builder.task("a", t -> 1)
                            .onlyIf(t -> asked.incrementAndGet() == 1)
                            .waitFor(HOUR));
            perdure.register(dag);
            DagRun<Integer> run = perdure.start(dag, 0);
            perdure.settle();
            perdure.crash();
            assertThat(run.result()).isEqualTo(1);
            assertThat(asked).hasValue(1);
        }
    }

    // ---- waits

    private static Dag<Integer, String> waiting() {
        return Dag.of("waiting", Integer.class, builder -> {
            var first = builder.task("first", t -> "first");
            return builder.after(first)
                    .task("second", (t, text) -> text + " and second")
                    .waitForEither(HOUR, "approved");
        });
    }

    @ParameterizedTest
    @EnumSource
    void the_time_comes_first_and_the_event_is_too_late(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Dag<Integer, String> dag = waiting();
            perdure.register(dag);
            DagRun<String> run = perdure.start(dag, 0);
            assertThat(run.result()).isEqualTo("first and second");
            assertThat(perdure.now()).isEqualTo(Instant.parse("2030-01-01T01:00:00Z"));
            assertThat(perdure.emit(APPROVED, "late")).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_event_comes_first_and_the_time_is_too_late(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Dag<Integer, String> dag = waiting();
            perdure.register(dag);
            DagRun<String> run = perdure.start(dag, 0);
            perdure.advance(Duration.ofMinutes(10));
            assertThat(perdure.emit(APPROVED, "yes")).isEqualTo(1);
            assertThat(run.result()).isEqualTo("first and second");
            assertThat(perdure.now()).isBefore(Instant.parse("2030-01-01T00:11:00Z"));
        }
    }

    @ParameterizedTest
    @EnumSource
    void all_groups_are_needed(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Dag<Integer, Integer> dag = Dag.of(
                    "groups",
                    Integer.class,
                    builder -> builder.task("a", t -> 1).waitFor(HOUR).waitForEvent("approved"));
            perdure.register(dag);
            DagRun<Integer> run = perdure.start(dag, 0);
            perdure.advance(Duration.ofHours(3));
            DagStatus waiting = run.status();
            assertThat(waiting.task("a").orElseThrow().state()).isEqualTo(RunState.SUSPENDED);
            assertThat(perdure.emit(APPROVED, "yes")).isEqualTo(1);
            assertThat(run.result()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_event_with_a_key_reaches_a_task_that_waits_for_its_name(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Dag<Integer, Integer> dag = Dag.of(
                    "keyed", Integer.class, builder -> builder.task("a", t -> 1).waitForEvent("approved"));
            perdure.register(dag);
            DagRun<Integer> run = perdure.start(dag, 0, id("g"));
            perdure.settle();
            assertThat(perdure.emit(APPROVED.key("order-7"), "yes")).isEqualTo(1);
            assertThat(run.result()).isEqualTo(1);
        }
    }
}
