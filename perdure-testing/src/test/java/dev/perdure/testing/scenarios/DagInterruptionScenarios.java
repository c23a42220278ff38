package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.TypeRef;
import dev.perdure.dag.Dag;
import dev.perdure.dag.DagRun;
import dev.perdure.dag.DagStatus;
import dev.perdure.dag.DagTask;
import dev.perdure.dag.TaskStatus;
import dev.perdure.error.CancelledException;
import dev.perdure.error.RunFailedException;
import dev.perdure.error.TerminalException;
import dev.perdure.queue.Queue;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** DAGs that are cancelled or killed, wholly or by task, and DAGs whose workers die. */
abstract class DagInterruptionScenarios extends Scenarios {
    private static int fail(String why) {
        throw new TerminalException(why);
    }

    private static Dag<String, Integer> sleepers(List<String> seen) {
        return Dag.of("sleepers", String.class, builder -> {
            var first = builder.task("first", t -> 1);
            var slow = builder.after(first).workflow("slow", (ctx, t, one) -> {
                try {
                    ctx.sleep(Duration.ofHours(5));
                } finally {
                    ctx.step("undo", () -> seen.add("undone"));
                }
                return 1;
            });
            builder.onFailure(t -> seen.add("onFailure"));
            return builder.after(slow).task("join", (t, two) -> two);
        });
    }

    @ParameterizedTest
    @EnumSource
    void a_cancel_reaches_every_live_task_which_may_undo_and_is_not_a_failure(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> seen = new CopyOnWriteArrayList<>();
            Dag<String, Integer> dag = sleepers(seen);
            perdure.register(dag);
            DagRun<Integer> run = perdure.start(dag, "x", id("g"));
            perdure.settle();
            run.cancel("not now");
            RunFailedException cancelled = catchThrowableOfType(RunFailedException.class, run::result);
            assertThat(cancelled.state()).isEqualTo(RunState.CANCELLED);
            assertThat(cancelled).hasMessageContaining("not now");
            DagStatus status = run.status();
            assertThat(status.task("first").orElseThrow().state()).isEqualTo(RunState.COMPLETED);
            assertThat(status.task("slow").orElseThrow().state()).isEqualTo(RunState.CANCELLED);
            assertThat(status.task("slow").orElseThrow().reason()).contains("its DAG was cancelled: not now");
            assertThat(status.task("join").orElseThrow().state()).isEqualTo(RunState.CANCELLED);
            assertThat(status.task("join").orElseThrow().reason()).contains("its DAG was cancelled: not now");
            assertThat(seen).containsExactly("undone");
        }
    }

    /** Many tasks beside each other, and one after all of them, of which two have begun. */
    private void cancelsWhatWaits(TestMode mode, Queue queue, boolean failing) {
        try (PerdureTest perdure = create(mode)) {
            List<String> began = new CopyOnWriteArrayList<>();
            List<String> undone = new CopyOnWriteArrayList<>();
            AtomicInteger told = new AtomicInteger();
            Dag<String, Integer> dag = Dag.of("wide", String.class, builder -> {
                List<DagTask<Integer>> all = IntStream.range(0, 30)
                        .<DagTask<Integer>>mapToObj(i -> builder.workflow("task-" + i, (ctx, t) -> {
                            began.add(t.name());
                            try {
                                ctx.sleep(Duration.ofHours(1));
                            } catch (CancelledException cancel) {
                                ctx.step("undo", () -> undone.add(t.name()));
                                if (failing) {
                                    throw new TerminalException("cannot be undone");
                                }
                                throw cancel;
                            }
                            return i;
                        }))
                        .toList();
                builder.onFailure(t -> told.incrementAndGet());
                return builder.after(all).task("last", (t, numbers) -> numbers.size());
            });
            perdure.register(dag).queues(queue);
            DagRun<Integer> run = perdure.start(dag, "x", id("g").queue(queue.name()));
            perdure.settle();
            List<String> two = began.stream().distinct().toList();
            assertThat(two).hasSize(2);
            run.cancel("not now");
            assertThat(perdure.runs(RunFilter.all().state(RunState.CANCELLED)).list())
                    .hasSizeGreaterThanOrEqualTo(28);
            perdure.settle();
            assertThat(began.stream().distinct()).hasSize(2);
            assertThat(undone).containsExactlyInAnyOrderElementsOf(two);
            assertThat(run.state()).isEqualTo(failing ? RunState.FAILED : RunState.CANCELLED);
            assertThat(run.info().reason().orElse("")).contains(failing ? "cannot be undone" : "not now");
            assertThat(told.get()).isEqualTo(failing ? 1 : 0);
            assertThat(run.status().task("last").orElseThrow().state()).isEqualTo(RunState.CANCELLED);
        }
    }

    @ParameterizedTest
    @EnumSource
    void no_waiting_task_begins_after_a_cancel(TestMode mode) {
        cancelsWhatWaits(mode, Queue.named("narrow").concurrency(2), false);
    }

    @ParameterizedTest
    @EnumSource
    void no_waiting_task_begins_after_a_cancel_and_the_failures_of_others_are_told(TestMode mode) {
        cancelsWhatWaits(mode, Queue.named("narrow").concurrency(2), true);
    }

    /** The cancel ends the last tasks in its commit, so the DAG's own run has nothing to wait for. */
    @ParameterizedTest
    @EnumSource
    void a_dag_whose_tasks_all_wait_is_cancelled_at_once(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> began = new CopyOnWriteArrayList<>();
            Dag<String, Integer> dag = Dag.of("waiting", String.class, builder -> {
                builder.run("one", t -> began.add("one"));
                builder.onFailure(t -> began.add("onFailure"));
                return builder.task("two", t -> began.size());
            });
            perdure.register(dag);
            DagRun<Integer> run = perdure.start(dag, "x", id("g").requires("gpu=true"));
            perdure.settle();
            run.cancel("not now");
            perdure.startWorker(Map.of("gpu", "true"));
            RunFailedException cancelled = catchThrowableOfType(RunFailedException.class, run::result);
            assertThat(cancelled.state()).isEqualTo(RunState.CANCELLED);
            assertThat(run.info().reason()).hasValue("not now");
            assertThat(began).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_cancel_waits_for_a_task_that_undoes_at_length(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Dag<String, Integer> dag = Dag.of(
                    "undoing",
                    String.class,
                    builder -> builder.workflow("slow", (ctx, t) -> {
                        try {
                            ctx.sleep(Duration.ofHours(5));
                        } finally {
                            ctx.sleep(Duration.ofMinutes(10));
                        }
                        return 1;
                    }));
            perdure.register(dag);
            DagRun<Integer> run = perdure.start(dag, "x", id("g"));
            perdure.settle();
            run.cancel("not now");
            perdure.advance(Duration.ofMinutes(9));
            assertThat(run.state()).isEqualTo(RunState.PENDING);
            int events = run.history().size();
            perdure.advance(Duration.ofSeconds(59));
            assertThat(run.history()).as("it waits without a look").hasSize(events);
            assertThatThrownBy(run::result).hasMessageContaining("CANCELLED: not now");
            assertThat(run.info().changedAt())
                    .isEqualTo(run.status().task("slow").orElseThrow().endedAt().orElseThrow());
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_task_that_goes_on_after_the_cancel_of_its_dag_is_the_last(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> seen = new CopyOnWriteArrayList<>();
            Dag<String, Integer> dag = Dag.of("stubborn", String.class, builder -> {
                var stubborn = builder.workflow("stubborn", (ctx, t) -> {
                    try {
                        ctx.sleep(Duration.ofHours(5));
                    } catch (CancelledException ignored) {
                        seen.add("went on");
                    }
                    return 1;
                });
                var next = builder.after(stubborn).task("next", (t, one) -> seen.add("next"));
                return builder.after(next).workflow("last", (ctx, t, two) -> seen.size());
            });
            perdure.register(dag);
            DagRun<Integer> run = perdure.start(dag, "x", id("g"));
            perdure.settle();
            run.cancel("not now");
            assertThatThrownBy(run::result).hasMessageContaining("CANCELLED: not now");
            assertThat(run.status().tasks())
                    .extracting(TaskStatus::state)
                    .containsExactly(RunState.COMPLETED, RunState.CANCELLED, RunState.CANCELLED);
            assertThat(seen).containsOnly("went on");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_cancelled_dag_that_was_paused_while_it_waits_goes_on_after_it(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Dag<String, Integer> dag = Dag.of(
                    "undoing",
                    String.class,
                    builder -> builder.workflow("slow", (ctx, t) -> {
                        try {
                            ctx.sleep(Duration.ofHours(5));
                        } finally {
                            ctx.sleep(Duration.ofMinutes(10));
                        }
                        return 1;
                    }));
            perdure.register(dag);
            DagRun<Integer> run = perdure.start(dag, "x", id("g"));
            perdure.settle();
            run.cancel("not now");
            perdure.advance(Duration.ofMinutes(1));
            run.pause("look first");
            run.resume();
            perdure.advance(Duration.ofMinutes(1));
            assertThat(run.state()).isEqualTo(RunState.PENDING);
            assertThatThrownBy(run::result).hasMessageContaining("CANCELLED: not now");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_kill_ends_dag_and_tasks_at_once(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> seen = new CopyOnWriteArrayList<>();
            Dag<String, Integer> dag = sleepers(seen);
            perdure.register(dag);
            DagRun<Integer> run = perdure.start(dag, "x", id("g"));
            perdure.settle();
            run.kill("enough");
            assertThatThrownBy(run::result).hasMessageContaining("CANCELLED: enough");
            assertThat(run.status().task("slow").orElseThrow().state()).isEqualTo(RunState.CANCELLED);
            assertThat(run.status().task("join").orElseThrow().state()).isEqualTo(RunState.CANCELLED);
            assertThat(seen).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_task_that_is_cancelled_alone_cancels_what_comes_after_it(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> seen = new CopyOnWriteArrayList<>();
            Dag<String, Integer> dag = sleepers(seen);
            perdure.register(dag);
            DagRun<Integer> run = perdure.start(dag, "x", id("g"));
            perdure.settle();
            perdure.run(RunId.of("g/slow"), TypeRef.of(Integer.class)).cancel("skip this one");
            assertThatThrownBy(run::result)
                    .hasMessageContaining("CANCELLED: because task 'slow' was cancelled: skip this one");
            assertThat(seen).containsExactly("undone");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_leaf_that_is_killed_while_another_task_runs_does_not_end_the_dag(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> seen = new CopyOnWriteArrayList<>();
            Dag<String, Integer> dag = Dag.of("killed", String.class, builder -> {
                var slow = builder.workflow("slow", (ctx, t) -> {
                    ctx.sleep(Duration.ofHours(5));
                    return fail("too late");
                });
                var middle = builder.after(slow).task("middle", (t, one) -> 2);
                builder.onFailure(t -> seen.add("onFailure " + t.errors()));
                return builder.after(middle).task("leaf", (t, two) -> two);
            });
            perdure.register(dag);
            DagRun<Integer> run = perdure.start(dag, "x", id("g"));
            perdure.settle();
            perdure.run(RunId.of("g/leaf"), TypeRef.of(Integer.class)).kill("not wanted");
            perdure.settle();
            assertThat(run.state()).isEqualTo(RunState.PENDING);

            assertThatThrownBy(run::result).hasMessageContaining("1 task of DAG 'killed' failed: 'slow'");
            assertThat(seen).containsExactly("onFailure ['slow': dev.perdure.error.TerminalException: too late]");
            assertThat(run.status().task("leaf").orElseThrow().state()).isEqualTo(RunState.CANCELLED);
            assertThat(run.status().task("leaf").orElseThrow().reason()).contains("not wanted");
        }
    }

    @ParameterizedTest
    @EnumSource
    void every_recorded_output_stays_whenever_a_worker_dies(TestMode mode) {
        for (int commit = 0; commit < 8; commit++) {
            for (boolean before : new boolean[] {true, false}) {
                try (PerdureTest perdure = create(mode)) {
                    AtomicInteger joins = new AtomicInteger();
                    Dag<String, Integer> dag = Dag.of("mortal", String.class, builder -> {
                        var a = builder.task("a", t -> 1);
                        var b = builder.after(a).task("b", (t, one) -> 2);
                        var c = builder.after(a).task("c", (t, one) -> 3);
                        return builder.after(b, c).task("d", (t, two, three) -> {
                            joins.incrementAndGet();
                            return two + three;
                        });
                    });
                    perdure.register(dag);
                    perdure.settle();
                    if (before) {
                        perdure.crashBeforeCommit(commit);
                    } else {
                        perdure.crashAfterCommit(commit);
                    }
                    DagRun<Integer> run = perdure.start(dag, "x", id("g"));
                    assertThat(run.result()).isEqualTo(5);
                    assertThat(joins.get()).isBetween(1, 2);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_answer_that_is_lost_loses_no_task_that_was_handed_over(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Dag<String, Integer> dag = Dag.of("lossy", String.class, builder -> {
                var a = builder.task("a", t -> 1);
                return builder.after(a).task("b", (t, one) -> one + 1);
            });
            perdure.register(dag);
            perdure.settle();
            perdure.loseNextAnswer();
            DagRun<Integer> run = perdure.start(dag, "x");
            perdure.settle();
            perdure.advance(Duration.ofSeconds(30));
            assertThat(run.result()).isEqualTo(2);
        }
    }

    @Test
    void an_output_is_kept_when_a_later_task_crashes() {
        try (PerdureTest perdure = create(TestMode.THREE_WORKERS)) {
            AtomicInteger first = new AtomicInteger();
            Dag<String, Integer> dag = Dag.of("recovery-test", String.class, builder -> {
                var a = builder.task("step-1", t -> first.incrementAndGet());
                return builder.after(a).task("step-2", (t, one) -> fail("Crash!"));
            });
            perdure.register(dag);
            DagRun<Integer> run = perdure.start(dag, "x", id("g"));
            assertThatThrownBy(run::result).hasMessageContaining("Crash!");
            assertThat(first).hasValue(1);
            assertThat(run.status().outputs().get("step-1", TypeRef.of(Integer.class)))
                    .isEqualTo(1);
        }
    }
}
