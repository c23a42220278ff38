package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.api.Assertions.tuple;

import dev.perdure.RetryPolicy;
import dev.perdure.RunState;
import dev.perdure.TypeRef;
import dev.perdure.dag.Dag;
import dev.perdure.dag.DagBuilder;
import dev.perdure.dag.DagEvent;
import dev.perdure.dag.DagRun;
import dev.perdure.dag.DagStatus;
import dev.perdure.dag.DagTask;
import dev.perdure.dag.TaskError;
import dev.perdure.dag.TaskStatus;
import dev.perdure.error.RunFailedException;
import dev.perdure.error.TasksFailedException;
import dev.perdure.error.TerminalException;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** DAGs that fail: which tasks the engine cancels because of which failure, and how often handlers run. */
abstract class DagFailureScenarios extends Scenarios {
    private static int fail(String why) {
        throw new TerminalException(why);
    }

    private static int always() {
        throw new IllegalStateException("always");
    }

    /** So many tasks that fail, and what onFailure is told. */
    private void tellsOfMany(TestMode mode, int count, int maxPayloadBytes, int most) {
        try (PerdureTest perdure = create(mode)) {
            List<List<TaskError>> told = new CopyOnWriteArrayList<>();
            AtomicInteger failed = new AtomicInteger();
            Dag<String, List<Integer>> dag = Dag.of("many", String.class, builder -> {
                for (int i = 0; i < count; i++) {
                    builder.run("task-%04d".formatted(i), t -> fail("x".repeat(300)));
                }
                builder.onFailure(t -> {
                    told.add(t.errors());
                    failed.set(t.failed());
                });
                return builder.task("list", t -> List.of(1)).returning(new TypeRef<List<Integer>>() {});
            });
            perdure.register(dag).maxPayloadBytes(maxPayloadBytes);
            DagRun<List<Integer>> run = perdure.start(dag, "x", id("g"));
            assertThatThrownBy(run::result).hasMessageContaining(count + " tasks of DAG 'many' failed: 'task-0000'");
            assertThat(run.state()).isEqualTo(RunState.FAILED);
            assertThat(failed.get()).isEqualTo(count);
            assertThat(told).hasSize(1);
            assertThat(told.getFirst())
                    .hasSize(most)
                    .extracting(TaskError::task)
                    .startsWith("task-0000")
                    .endsWith("task-%04d".formatted(most - 1));
        }
    }

    @Test
    @Tag("thorough")
    void on_failure_is_told_of_the_first_thousand_failures_and_of_their_number() {
        tellsOfMany(TestMode.NORMAL, 1_500, 1 << 20, 1_000);
    }

    @ParameterizedTest
    @EnumSource
    void on_failure_is_told_of_as_many_failures_as_can_be_stored(TestMode mode) {
        tellsOfMany(mode, 40, 10_000, 20);
    }

    /** charge fails; pack is another branch; ship needs both; mail comes after ship. */
    private static Dag<String, Integer> shop(List<String> seen) {
        return Dag.of("shop", String.class, dag -> {
            DagTask<Integer> mail = tasks(dag, seen);
            dag.onFailure(t -> seen.add("onFailure " + t.input() + " " + t.runId() + " " + t.errors()));
            dag.onSuccess(t -> seen.add("onSuccess"));
            return mail;
        });
    }

    private static DagTask<Integer> tasks(DagBuilder<String> dag, List<String> seen) {
        var check = dag.task("check", t -> 1);
        var charge = dag.after(check).task("charge", (t, one) -> fail("card refused"));
        var pack = dag.after(check).task("pack", (t, one) -> {
            seen.add("pack");
            return 2;
        });
        var ship = dag.after(charge, pack).task("ship", (t, one, two) -> {
            seen.add("ship");
            return 3;
        });
        return dag.after(ship).task("mail", (t, one) -> 4);
    }

    @ParameterizedTest
    @EnumSource
    void descendants_are_cancelled_with_the_culprit_and_other_branches_finish(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> seen = new CopyOnWriteArrayList<>();
            Dag<String, Integer> shop = shop(seen);
            perdure.register(shop);
            DagRun<Integer> run = perdure.start(shop, "x", id("g"));
            RunFailedException failed = catchThrowableOfType(RunFailedException.class, run::result);
            assertThat(failed.state()).isEqualTo(RunState.FAILED);
            assertThat(failed)
                    .hasMessageContaining(
                            "1 task of DAG 'shop' failed: 'charge': dev.perdure.error.TerminalException: card refused.")
                    .cause()
                    .isInstanceOfSatisfying(
                            TasksFailedException.class,
                            cause -> assertThat(cause.errors())
                                    .containsExactly(new TaskError(
                                            "charge", "dev.perdure.error.TerminalException: card refused")));
            DagStatus status = run.status();
            String culprit = "because task 'charge' failed: dev.perdure.error.TerminalException: card refused";
            assertThat(status.tasks())
                    .extracting(TaskStatus::name, TaskStatus::state)
                    .containsExactlyInAnyOrder(
                            tuple("check", RunState.COMPLETED),
                            tuple("charge", RunState.FAILED),
                            tuple("pack", RunState.COMPLETED),
                            tuple("ship", RunState.CANCELLED),
                            tuple("mail", RunState.CANCELLED),
                            tuple("onFailure", RunState.COMPLETED));
            assertThat(status.task("ship").orElseThrow().reason()).contains(culprit);
            assertThat(status.task("mail").orElseThrow().reason()).contains(culprit);
            assertThat(status.task("charge").orElseThrow().error().orElseThrow())
                    .hasMessage("card refused");
            assertThat(seen)
                    .containsExactly(
                            "pack", "onFailure x g ['charge': dev.perdure.error.TerminalException: card refused]");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_task_is_retried_by_its_policy_and_the_child_runs_once_afterwards(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicInteger attempts = new AtomicInteger();
            AtomicInteger children = new AtomicInteger();
            List<String> keys = new CopyOnWriteArrayList<>();
            Dag<String, String> dag = Dag.of("retry-test", String.class, builder -> {
                var flaky = builder.task("flaky", t -> {
                            keys.add(t.attempt().idempotencyKey());
                            if (attempts.incrementAndGet() < 3) {
                                throw new IllegalStateException("transient");
                            }
                            return "success " + t.attempt().number();
                        })
                        .retry(RetryPolicy.standard().attempts(3));
                return builder.after(flaky).task("after", (t, text) -> text + " " + children.incrementAndGet());
            });
            perdure.register(dag);
            DagRun<String> run = perdure.start(dag, "x");
            assertThat(run.result()).isEqualTo("success 3 1");
            assertThat(attempts).hasValue(3);
            assertThat(keys).hasSize(3).containsOnly(keys.getFirst());
            assertThat(run.status().task("flaky").orElseThrow().attempts()).isEqualTo(3);
        }
    }

    @ParameterizedTest
    @EnumSource
    void attempts_run_out_and_a_crash_does_not_give_more_of_them(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicInteger attempts = new AtomicInteger();
            RetryPolicy hourly = RetryPolicy.standard().attempts(3).initialDelay(Duration.ofHours(1));
            Dag<String, Integer> dag = Dag.of(
                    "hopeless",
                    String.class,
                    builder -> builder.task("flaky", t -> {
                                attempts.incrementAndGet();
                                return always();
                            })
                            .retry(hourly));
            perdure.register(dag);
            DagRun<Integer> run = perdure.start(dag, "x", id("g"));
            perdure.settle();
            assertThat(run.status().task("flaky").orElseThrow().state()).isEqualTo(RunState.BACKING_OFF);
            perdure.crash();
            assertThatThrownBy(run::result).hasMessageContaining("'flaky': java.lang.IllegalStateException: always");
            assertThat(attempts).hasValue(3);
            assertThat(run.status().task("flaky").orElseThrow().attempts()).isEqualTo(3);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_task_that_takes_too_long_is_interrupted(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicBoolean interrupted = new AtomicBoolean();
            Dag<String, Integer> dag = Dag.of(
                    "slow",
                    String.class,
                    builder -> builder.task("stuck", t -> {
                                try {
                                    new CountDownLatch(1).await();
                                } catch (InterruptedException expected) {
                                    interrupted.set(true);
                                    throw expected;
                                }
                                return 1;
                            })
                            .retry(1)
                            .timeout(Duration.ofMillis(50)));
            perdure.register(dag);
            DagRun<Integer> run = perdure.start(dag, "x");
            until(() -> {
                perdure.advance(Duration.ofMillis(100));
                return run.state().isTerminal();
            });
            assertThat(interrupted).isTrue();
            assertThat(run.status().task("stuck").orElseThrow().reason().orElseThrow())
                    .contains("took longer than PT0.05S");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_parent_fails_while_another_still_waits(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> seen = new CopyOnWriteArrayList<>();
            Dag<String, Integer> dag = Dag.of("uneven", String.class, builder -> {
                var bad = builder.task("bad", t -> fail("at once"));
                var slow = builder.workflow("slow", (ctx, t) -> {
                    ctx.sleep(Duration.ofHours(5));
                    seen.add("slow");
                    return 1;
                });
                return builder.after(bad, slow).task("join", (t, one, two) -> one + two);
            });
            perdure.register(dag);
            DagRun<Integer> run = perdure.start(dag, "x", id("g"));
            perdure.settle();
            assertThat(run.state()).isEqualTo(RunState.PENDING);
            assertThatThrownBy(run::result).hasMessageContaining("'bad': dev.perdure.error.TerminalException: at once");
            assertThat(seen).contains("slow");
            assertThat(run.status().task("join").orElseThrow().state()).isEqualTo(RunState.CANCELLED);
        }
    }

    @ParameterizedTest
    @EnumSource
    void two_fail_and_both_are_named(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> seen = new CopyOnWriteArrayList<>();
            Dag<String, Integer> dag = Dag.of("both", String.class, builder -> {
                var one = builder.task("one", t -> fail("first"));
                var two = builder.task("two", t -> fail("second"));
                builder.onFailure(t -> t.errors().forEach(error -> seen.add(error.task())));
                return builder.after(one, two).task("join", (t, a, b) -> a + b);
            });
            perdure.register(dag);
            assertThatThrownBy(() -> perdure.start(dag, "x").result())
                    .hasMessageContaining(
                            "2 tasks of DAG 'both' failed: 'one': dev.perdure.error.TerminalException: first; 'two': dev.perdure.error.TerminalException: second.");
            assertThat(seen).containsExactly("one", "two");
        }
    }

    /** Refers to itself, so that JSON cannot represent it. */
    public static final class Endless {
        /** Itself. */
        public Endless next() {
            return this;
        }

        /** Itself again. */
        public Endless getNext() {
            return this;
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_output_that_cannot_be_stored_fails_the_task_and_the_run_ends(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicInteger bodies = new AtomicInteger();
            Dag<String, Endless> dag = Dag.of(
                    "odd",
                    String.class,
                    builder -> builder.task("endless", t -> {
                        bodies.incrementAndGet();
                        return new Endless();
                    }));
            perdure.register(dag);
            assertThatThrownBy(() -> perdure.start(dag, "x").result())
                    .isInstanceOf(RunFailedException.class)
                    .hasMessageContaining("The result of step 'endless'");
            assertThat(bodies).hasValue(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_handler_that_fails_is_reported_and_does_not_loop(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicInteger handled = new AtomicInteger();
            Dag<String, Integer> dag = Dag.of("worse", String.class, builder -> {
                builder.onFailure(t -> {
                    handled.incrementAndGet();
                    throw new TerminalException("no luck");
                });
                return builder.task("bad", t -> fail("at once"));
            });
            perdure.register(dag);
            DagRun<Integer> run = perdure.start(dag, "x");
            assertThatThrownBy(run::result)
                    .hasMessageContaining("'bad': dev.perdure.error.TerminalException: at once")
                    .hasMessageContaining("onFailure failed too: dev.perdure.error.TerminalException: no luck");
            assertThat(handled).hasValue(1);
            TaskStatus handler = run.status().task("onFailure").orElseThrow();
            assertThat(handler.state()).isEqualTo(RunState.FAILED);
            assertThat(handler.error().orElseThrow()).hasMessage("no luck");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_handler_is_seen_like_a_task_once_it_has_begun(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicInteger attempts = new AtomicInteger();
            Dag<String, Integer> dag = Dag.of("seen", String.class, builder -> {
                var one = builder.task("one", t -> 1);
                var two = builder.after(one).task("two", (t, first) -> 2).waitFor(Duration.ofHours(1));
                builder.after(one).task("three", (t, first) -> 3);
                builder.onFailure(t -> attempts.set(100));
                builder.onSuccess(t -> {
                    if (attempts.incrementAndGet() == 1) {
                        throw new IllegalStateException("once");
                    }
                });
                return two;
            });
            perdure.register(dag);
            DagRun<Integer> run = perdure.start(dag, "x", id("g"));
            perdure.settle();
            assertThat(run.status().tasks()).extracting(TaskStatus::name).containsExactly("one", "two", "three");
            assertThat(run.result()).isEqualTo(2);

            DagStatus status = run.status();
            TaskStatus handler = status.task("onSuccess").orElseThrow();
            assertThat(handler.state()).isEqualTo(RunState.COMPLETED);
            assertThat(handler.after()).containsExactly("two", "three");
            assertThat(handler.attempts()).isEqualTo(2);
            assertThat(handler.startedAt()).isPresent();
            assertThat(handler.endedAt()).isPresent();
            assertThat(status.task("onFailure")).isEmpty();
            assertThat(status.events())
                    .filteredOn(event -> event.task().equals("onSuccess"))
                    .extracting(DagEvent::what)
                    .contains(DagEvent.What.STARTED, DagEvent.What.RETRIED)
                    .endsWith(DagEvent.What.COMPLETED);
            assertThat(status.outputs().tasks()).containsExactly("one", "two", "three");
            assertThat(status.toText()).contains("  onSuccess  COMPLETED    after two, three  (2 attempts)\n");
            assertThat(status.toMermaid()).contains("t4[\"onSuccess<br/>COMPLETED\"]", "t2 --> t4", "t3 --> t4");
            assertThat(status.toGraphviz()).contains("t4 [label=\"onSuccess\\nCOMPLETED\"];", "t3 -> t4;");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_handler_of_an_earlier_life_is_not_seen(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicInteger attempts = new AtomicInteger();
            Dag<String, Integer> dag = Dag.of("twice", String.class, builder -> {
                builder.onFailure(t -> {});
                return builder.task("flaky", t -> attempts.incrementAndGet() == 1 ? fail("first") : 1);
            });
            perdure.register(dag);
            DagRun<Integer> run = perdure.start(dag, "x", id("g"));
            assertThatThrownBy(run::result).isInstanceOf(RunFailedException.class);
            assertThat(run.status().task("onFailure")).isPresent();
            run.retryFailed();
            assertThat(run.result()).isEqualTo(1);
            assertThat(run.status().task("onFailure")).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void on_success_runs_once_after_all_leaves_and_on_failure_does_not(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> seen = new CopyOnWriteArrayList<>();
            Dag<String, Integer> dag = Dag.of("good", String.class, builder -> {
                var quick = builder.task("quick", t -> 1);
                builder.task("slow", t -> {
                            seen.add("slow");
                            return 2;
                        })
                        .waitFor(Duration.ofHours(1));
                builder.onFailure(t -> seen.add("onFailure"));
                builder.onSuccess(t -> seen.add("onSuccess " + t.input()));
                return quick;
            });
            perdure.register(dag);
            assertThat(perdure.start(dag, "x").result()).isEqualTo(1);
            assertThat(seen).containsExactly("slow", "onSuccess x");
        }
    }

    @ParameterizedTest
    @EnumSource
    void on_success_that_fails_fails_the_run(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> seen = new CopyOnWriteArrayList<>();
            Dag<String, Integer> dag = Dag.of("almost", String.class, builder -> {
                builder.onFailure(t -> seen.add("onFailure"));
                builder.onSuccess(t -> {
                    throw new TerminalException("late");
                });
                return builder.task("fine", t -> 1);
            });
            perdure.register(dag);
            assertThatThrownBy(() -> perdure.start(dag, "x").result())
                    .hasMessageContaining(
                            "All tasks of DAG 'almost' succeeded, but onSuccess failed: dev.perdure.error.TerminalException: late");
            assertThat(seen).isEmpty();
        }
    }
}
