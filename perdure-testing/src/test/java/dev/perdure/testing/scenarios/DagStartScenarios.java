package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.perdure.ChildOptions;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.RetryPolicy;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.Topic;
import dev.perdure.TypeRef;
import dev.perdure.dag.Dag;
import dev.perdure.dag.DagRun;
import dev.perdure.dag.DagStatus;
import dev.perdure.dag.TaskError;
import dev.perdure.dag.TaskStatus;
import dev.perdure.error.DeadlineExceededException;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.RecordedException;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** DAGs that start with a delay, and DAGs with a timeout. */
abstract class DagStartScenarios extends Scenarios {
    private static final Duration HOUR = Duration.ofHours(1);
    private static final String LATE = "its DAG has passed its deadline 2030-01-01T01:00:00Z";

    private static RunState stateOf(DagRun<?> run, String task) {
        return run.status().task(task).orElseThrow().state();
    }

    private static String reasonOf(DagRun<?> run, String task) {
        return run.status().task(task).flatMap(TaskStatus::reason).orElse("");
    }

    // ---- delay

    private static Dag<String, String> two() {
        return Dag.of("two", String.class, dag -> {
            var a = dag.task("a", t -> t.input() + "a");
            var b = dag.task("b", t -> t.input() + "b");
            return dag.after(a, b).task("c", (t, first, second) -> first + second);
        });
    }

    @ParameterizedTest
    @EnumSource
    void a_dag_begins_after_its_delay(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Dag<String, String> dag = two();
            perdure.register(dag);
            DagRun<String> run = perdure.start(dag, "x", id("g").delay(HOUR));
            perdure.settle();
            perdure.advance(HOUR.minusMinutes(1));
            assertThat(run.state()).isEqualTo(RunState.PENDING);
            assertThat(stateOf(run, "a")).isEqualTo(RunState.SUSPENDED);
            assertThat(stateOf(run, "b")).isEqualTo(RunState.SUSPENDED);
            assertThat(stateOf(run, "c")).isEqualTo(RunState.PENDING);
            assertThat(run.result()).isEqualTo("xaxb");
            assertThat(perdure.now()).isEqualTo("2030-01-01T01:00:00Z");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_delayed_dag_that_is_cancelled_never_begins_and_can_be_repaired_at_once(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Dag<String, String> dag = two();
            perdure.register(dag);
            DagRun<String> run = perdure.start(dag, "x", id("g").delay(HOUR));
            perdure.settle();
            run.cancel("not now");
            assertThatThrownBy(run::result).hasMessageContaining("CANCELLED: not now");
            assertThat(stateOf(run, "a")).isEqualTo(RunState.CANCELLED);
            assertThat(perdure.now()).isEqualTo("2030-01-01T00:00:00Z");
            run.retryFailed();
            assertThat(run.result()).isEqualTo("xaxb");
            assertThat(perdure.now()).isEqualTo("2030-01-01T00:00:00Z");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_workflow_calls_a_dag_later_and_no_longer_than_it_has_itself(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Dag<String, String> dag = two();
            Dag<String, String> slow = Dag.of(
                    "slow",
                    String.class,
                    builder -> builder.task("only", t -> t.input()).waitFor(HOUR.multipliedBy(5)));
            ChildOptions later = ChildOptions.childId("later").delay(HOUR);
            Definition<String, String> caller = workflow(
                    "caller",
                    (ctx, in) -> ctx.startChild(Invocation.of(dag, in), later).await());
            Definition<String, String> impatient = workflow("impatient", (ctx, in) -> {
                ctx.startChild(Invocation.of(slow, in), ChildOptions.childId("bound"));
                ctx.sleep(HOUR.multipliedBy(9));
                return in;
            });
            perdure.register(dag, slow, caller, impatient);
            assertThatThrownBy(() -> perdure.start(
                                    Invocation.of(impatient, "x"), id("late").timeout(HOUR))
                            .result())
                    .hasMessageContaining("DeadlineExceededException");
            assertThatThrownBy(() -> perdure.run(RunId.of("bound"), TypeRef.of(Object.class))
                            .dag(slow)
                            .result())
                    .hasMessageContaining("Run 'bound' has passed its deadline 2030-01-01T01:00:00Z.");
            assertThat(perdure.start(Invocation.of(caller, "x")).result()).isEqualTo("xaxb");
            assertThat(perdure.now()).isEqualTo("2030-01-01T02:00:00Z");
        }
    }

    @Test
    void a_dag_takes_no_message() {
        try (PerdureTest perdure = create(TestMode.THREE_WORKERS)) {
            Dag<String, String> dag = two();
            perdure.register(dag);
            assertThatThrownBy(() -> perdure.start(dag, "x", id("g").message(Topic.of("news", String.class), "hello")))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("Send it to a task that is a workflow, under the id of the run, a '/' and");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_task_that_is_a_workflow_gets_messages_under_its_own_id(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Topic<String> news = Topic.of("news", String.class);
            Dag<String, String> dag = Dag.of(
                    "listening",
                    String.class,
                    builder -> builder.workflow(
                            "hear", (ctx, t) -> ctx.receive(news).await()));
            perdure.register(dag);
            DagRun<String> run = perdure.start(dag, "x", id("g"));
            perdure.send(RunId.of("g/hear"), news, "hello");
            assertThat(run.result()).isEqualTo("hello");
        }
    }

    // ---- timeout

    @ParameterizedTest
    @EnumSource
    void a_dag_that_passes_its_deadline_fails_and_its_tasks_are_cancelled(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> seen = new CopyOnWriteArrayList<>();
            Dag<String, Integer> dag = Dag.of("slow", String.class, builder -> {
                var quick = builder.task("quick", t -> 1);
                var waits = builder.after(quick).task("waits", (t, one) -> 2).waitForEvent("never");
                var undoes = builder.after(quick).workflow("undoes", (ctx, t, one) -> {
                    try {
                        ctx.sleep(HOUR.multipliedBy(5));
                    } finally {
                        ctx.sleep(Duration.ofMinutes(1));
                        ctx.step("undo", () -> seen.add("undone"));
                    }
                    return 3;
                });
                builder.onFailure(
                        t -> t.errors().stream().map(TaskError::toString).forEach(seen::add));
                builder.onSuccess(t -> seen.add("onSuccess"));
                return builder.after(waits, undoes).task("join", (t, two, three) -> two + three);
            });
            perdure.register(dag);
            DagRun<Integer> run = perdure.start(dag, "x", id("g").timeout(HOUR));
            RunFailedException late = catchThrowableOfType(RunFailedException.class, run::result);
            assertThat(late.state()).isEqualTo(RunState.FAILED);
            assertThat(late).hasMessageContaining("Run 'g' has passed its deadline 2030-01-01T01:00:00Z.");
            assertThat(((RecordedException) late.getCause()).type())
                    .isEqualTo(DeadlineExceededException.class.getName());
            assertThat(perdure.now()).isEqualTo("2030-01-01T01:01:00Z");
            assertThat(stateOf(run, "quick")).isEqualTo(RunState.COMPLETED);
            assertThat(stateOf(run, "waits")).isEqualTo(RunState.CANCELLED);
            assertThat(reasonOf(run, "waits")).isEqualTo(LATE);
            assertThat(reasonOf(run, "undoes")).isEqualTo(LATE);
            assertThat(reasonOf(run, "join")).isEqualTo("because task 'waits' was cancelled: " + LATE);
            assertThat(seen).containsExactly("undone", "'waits': " + LATE, "'undoes': " + LATE);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_deadline_finds_a_task_that_backs_off_one_that_runs_and_those_that_follow(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Dag<String, Integer> backing = Dag.of(
                    "backing",
                    String.class,
                    builder -> builder.task("flaky", t -> broken(1))
                            .retry(RetryPolicy.standard()
                                    .initialDelay(HOUR.multipliedBy(2))
                                    .jitter(0)));
            Dag<String, Integer> stuck = Dag.of("stuck", String.class, builder -> {
                var first = builder.run("first", t -> await(new CountDownLatch(1)));
                return builder.after(first).task("next", (t, none) -> 1);
            });
            perdure.register(backing, stuck);
            DagRun<Integer> flaky = perdure.start(backing, "x", id("g").timeout(HOUR));
            assertThatThrownBy(flaky::result).hasMessageContaining("Run 'g' has passed its deadline");
            assertThat(reasonOf(flaky, "flaky")).isEqualTo(LATE);
            DagRun<Integer> run = perdure.start(stuck, "x", id("s").timeout(Duration.ofMillis(50)));
            assertThatThrownBy(run::result).hasMessageContaining("Run 's' has passed its deadline");
            assertThat(reasonOf(run, "first")).startsWith("its DAG has passed its deadline");
            assertThat(reasonOf(run, "next")).startsWith("because task 'first' was cancelled: its DAG");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_deadline_that_passes_while_no_worker_is_there_is_found_by_the_next(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> ran = new CopyOnWriteArrayList<>();
            Dag<String, Integer> dag = Dag.of("forgotten", String.class, builder -> {
                var first = builder.task("first", t -> 1).waitFor(Duration.ofMinutes(1));
                return builder.after(first).task("next", (t, one) -> {
                    ran.add("next");
                    return 2;
                });
            });
            perdure.register(dag);
            DagRun<Integer> run = perdure.start(dag, "x", id("g").timeout(HOUR));
            perdure.settle();
            perdure.crashAll();
            perdure.advance(Duration.ofHours(2));
            perdure.startWorker();
            assertThatThrownBy(run::result).hasMessageContaining("Run 'g' has passed its deadline");
            assertThat(reasonOf(run, "first")).isEqualTo(LATE);
            assertThat(ran).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_deadline_ends_the_items_of_a_map_and_the_map(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Dag<String, List<Integer>> dag = Dag.of("mapped", String.class, builder -> {
                var items = builder.task("items", t -> List.of(1, 2, 3)).returning(new TypeRef<List<Integer>>() {});
                return builder.forEach(items)
                        .task("each", (t, item) -> broken(item))
                        .parallelism(2)
                        .retry(RetryPolicy.standard()
                                .initialDelay(HOUR.multipliedBy(2))
                                .jitter(0));
            });
            perdure.register(dag);
            DagRun<List<Integer>> run = perdure.start(dag, "x", id("g").timeout(HOUR));
            assertThatThrownBy(run::result).hasMessageContaining("Run 'g' has passed its deadline");
            assertThat(stateOf(run, "each")).isEqualTo(RunState.CANCELLED);
            assertThat(reasonOf(run, "each")).isEqualTo(LATE);
            perdure.settle();
            assertThat(perdure.runs(RunFilter.all().definition("mapped/each*")).list())
                    .hasSize(2)
                    .allMatch(item -> item.state() == RunState.CANCELLED);
        }
    }

    private static int refused() {
        throw new TerminalException("no");
    }

    private static int broken(int item) {
        throw new IllegalStateException("broken " + item);
    }

    @ParameterizedTest
    @EnumSource
    void what_failed_before_the_deadline_counts_more_and_a_dag_in_time_does_not_feel_it(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Dag<String, Integer> dag = Dag.of("mixed", String.class, builder -> {
                var bad = builder.task("bad", t -> refused());
                var slow = builder.task("slow", t -> 1).waitFor(HOUR.multipliedBy(2));
                return builder.after(bad, slow).task("join", (t, one, two) -> one + two);
            });
            Dag<String, String> quick = two();
            perdure.register(dag, quick);
            DagRun<Integer> run = perdure.start(dag, "x", id("g").timeout(HOUR));
            RunFailedException failed = catchThrowableOfType(RunFailedException.class, run::result);
            assertThat(failed.getCause()).isInstanceOf(TasksFailedException.class);
            assertThat(failed).hasMessageContaining("'bad': dev.perdure.error.TerminalException: no");
            assertThat(reasonOf(run, "slow")).isEqualTo(LATE);
            assertThat(perdure.start(quick, "x", id("in time").timeout(HOUR)).result())
                    .isEqualTo("xaxb");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_task_with_a_timeout_of_its_own_fails_by_it(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Dag<String, Integer> dag = Dag.of(
                    "own",
                    String.class,
                    builder -> builder.workflow("slow", (ctx, t) -> {
                                ctx.sleep(HOUR.multipliedBy(5));
                                return 1;
                            })
                            .timeout(Duration.ofMinutes(10)));
            perdure.register(dag);
            DagRun<Integer> run = perdure.start(dag, "x", id("g").timeout(HOUR));
            assertThatThrownBy(run::result)
                    .hasMessageContaining(
                            "'slow': dev.perdure.error.DeadlineExceededException: Run 'g/slow' has passed");
            assertThat(perdure.now()).isEqualTo("2030-01-01T00:10:00Z");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_repaired_dag_has_its_time_again(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicBoolean patient = new AtomicBoolean();
            Dag<String, Integer> dag = Dag.of("again", String.class, builder -> {
                var first = builder.workflow("first", (ctx, t) -> {
                    ctx.sleep(patient.get() ? HOUR.minusMinutes(10) : HOUR.multipliedBy(2));
                    return 1;
                });
                return builder.after(first).workflow("second", (ctx, t, one) -> {
                    ctx.sleep(patient.get() ? Duration.ofMinutes(5) : HOUR);
                    return 2;
                });
            });
            perdure.register(dag);
            DagRun<Integer> run = perdure.start(dag, "x", id("g").timeout(HOUR));
            assertThatThrownBy(run::result).hasMessageContaining("2030-01-01T01:00:00Z");
            run.retryFailed();
            assertThatThrownBy(run::result).hasMessageContaining("2030-01-01T02:00:00Z");
            patient.set(true);
            run.retryFailed();
            assertThat(run.result()).isEqualTo(2);
            DagStatus status = run.status();
            assertThat(status.tasks()).extracting(TaskStatus::state).containsOnly(RunState.COMPLETED);
        }
    }
}
