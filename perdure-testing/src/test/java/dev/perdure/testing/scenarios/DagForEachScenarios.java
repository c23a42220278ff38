package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.RetryPolicy;
import dev.perdure.RunFilter;
import dev.perdure.RunState;
import dev.perdure.dag.Collected;
import dev.perdure.dag.Dag;
import dev.perdure.dag.DagRun;
import dev.perdure.dag.TaskContext;
import dev.perdure.error.TerminalException;
import dev.perdure.queue.Queue;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The same for each item of a list that a task gives. */
abstract class DagForEachScenarios extends Scenarios {
    private static List<Integer> numbers(TaskContext<Integer> task) {
        return IntStream.range(0, task.input()).boxed().toList();
    }

    private static Dag<Integer, Integer> summing(int parallelism) {
        return Dag.of("summing", Integer.class, dag -> {
            var numbers = dag.task("numbers", DagForEachScenarios::numbers);
            var squares = dag.forEach(numbers)
                    .task("squares", (t, number) -> number * number + t.input() - t.input())
                    .parallelism(parallelism);
            return dag.after(squares)
                    .task(
                            "sum",
                            (t, all) -> all.stream().mapToInt(Integer::intValue).sum());
        });
    }

    @ParameterizedTest
    @EnumSource
    void maps_over_none_one_and_some(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Dag<Integer, Integer> dag = summing(3);
            perdure.register(dag);
            assertThat(perdure.start(dag, 0).result()).isZero();
            assertThat(perdure.start(dag, 1).result()).isZero();
            assertThat(perdure.start(dag, 10).result()).isEqualTo(285);
        }
    }

    @ParameterizedTest
    @EnumSource
    void results_come_in_the_order_of_the_items_and_never_more_at_a_time_than_allowed(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicInteger now = new AtomicInteger();
            AtomicInteger most = new AtomicInteger();
            Dag<Integer, List<String>> dag = Dag.of("ordered", Integer.class, builder -> {
                var numbers = builder.task("numbers", DagForEachScenarios::numbers);
                return builder.forEach(numbers)
                        .task("texts", (t, number) -> {
                            most.accumulateAndGet(now.incrementAndGet(), Math::max);
                            now.decrementAndGet();
                            return t.name() + number;
                        })
                        .parallelism(2);
            });
            perdure.register(dag);
            assertThat(perdure.start(dag, 5).result())
                    .containsExactly("texts0", "texts1", "texts2", "texts3", "texts4");
            assertThat(most.get()).isBetween(1, 2);
        }
    }

    @Test
    void maps_over_10_000() {
        try (PerdureTest perdure = create(TestMode.NORMAL)) {
            Dag<Integer, Integer> dag = Dag.of("large", Integer.class, builder -> {
                var numbers = builder.task("numbers", DagForEachScenarios::numbers);
                var same = builder.forEach(numbers).task("same", (t, number) -> number);
                return builder.after(same).task("count", (t, all) -> all.size());
            });
            perdure.register(dag);
            assertThat(perdure.start(dag, 10_000).result()).isEqualTo(10_000);
        }
    }

    /** Two DAGs with their items, and what they start when they fail, in a queue with so many places. */
    private void keepsToTheQueue(TestMode mode, Queue queue, int most) {
        try (PerdureTest perdure = create(mode)) {
            Set<String> inside = ConcurrentHashMap.newKeySet();
            AtomicInteger highest = new AtomicInteger();
            AtomicInteger told = new AtomicInteger();
            Dag<Integer, List<Integer>> dag = Dag.of("narrow", Integer.class, builder -> {
                var numbers = builder.task("numbers", DagForEachScenarios::numbers);
                builder.onFailure(t -> told.incrementAndGet());
                return builder.forEach(numbers).workflow("each", (ctx, t, number) -> {
                    String item = ctx.runId().value();
                    ctx.step("in", () -> {
                        inside.add(item);
                        highest.accumulateAndGet(inside.size(), Math::max);
                    });
                    ctx.sleep(Duration.ofHours(1)); // it keeps its place
                    ctx.step("out", () -> {
                        inside.remove(item);
                    });
                    if (number == 5) {
                        throw new TerminalException("not five");
                    }
                    return number;
                });
            });
            perdure.register(dag).queues(queue);
            DagRun<List<Integer>> one =
                    perdure.start(dag, 5, id("one").queue(queue.name()).key("acme"));
            DagRun<List<Integer>> two =
                    perdure.start(dag, 6, id("two").queue(queue.name()).key("acme"));
            assertThat(one.result()).containsExactly(0, 1, 2, 3, 4);
            assertThatThrownBy(two::result).hasMessageContaining("not five");
            assertThat(highest.get()).isEqualTo(most);
            assertThat(told.get()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void items_keep_to_the_limit_of_the_queue_of_their_dag(TestMode mode) {
        keepsToTheQueue(mode, Queue.named("narrow").concurrency(2), 2);
    }

    @ParameterizedTest
    @EnumSource
    void items_find_the_one_place_of_the_queue_of_their_dag(TestMode mode) {
        keepsToTheQueue(mode, Queue.named("narrow").concurrency(1), 1);
    }

    @ParameterizedTest
    @EnumSource
    void items_keep_to_the_limit_of_the_key_of_their_dag(TestMode mode) {
        keepsToTheQueue(mode, Queue.named("narrow").perKey(1), 1);
    }

    @ParameterizedTest
    @EnumSource
    void one_that_fails_fails_the_map_and_cancels_the_others(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Map<Integer, Integer> tries = new ConcurrentHashMap<>();
            CountDownLatch never = new CountDownLatch(1);
            Dag<Integer, List<Integer>> dag = Dag.of("fast", Integer.class, builder -> {
                var numbers = builder.task("numbers", DagForEachScenarios::numbers);
                return builder.forEach(numbers)
                        .task("picky", (t, number) -> {
                            tries.merge(number, 1, Integer::sum);
                            if (number == 1) {
                                throw new TerminalException("not one");
                            }
                            if (number == 2) {
                                never.await();
                            }
                            return number;
                        })
                        .parallelism(3);
            });
            perdure.register(dag);
            DagRun<List<Integer>> run = perdure.start(dag, 100, id("g"));
            assertThatThrownBy(run::result).hasMessageContaining("'picky': ").hasMessageContaining("not one");
            perdure.settle();
            assertThat(perdure.runs(RunFilter.all().definition("fast/picky*")).list())
                    .allMatch(item -> item.state().isTerminal())
                    .hasSizeLessThan(100);
            assertThat(tries.get(1)).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void one_that_fails_is_collected_with_the_others(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Dag<Integer, List<Collected<Integer>>> dag = Dag.of("collecting", Integer.class, builder -> {
                var numbers = builder.task("numbers", DagForEachScenarios::numbers);
                return builder.forEach(numbers)
                        .task("picky", (t, number) -> {
                            if (number == 1) {
                                throw new TerminalException("not one");
                            }
                            return number;
                        })
                        .parallelism(2)
                        .collect();
            });
            perdure.register(dag);
            assertThat(perdure.start(dag, 3).result())
                    .containsExactly(
                            new Collected<>(0, null),
                            new Collected<>(null, "dev.perdure.error.TerminalException: not one"),
                            new Collected<>(2, null));
        }
    }

    @ParameterizedTest
    @EnumSource
    void items_may_give_nothing(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Set<Integer> told = ConcurrentHashMap.newKeySet();
            Dag<Integer, List<@Nullable Void>> dag = Dag.of("telling", Integer.class, builder -> {
                var numbers = builder.task("numbers", DagForEachScenarios::numbers);
                return builder.forEach(numbers)
                        .run("tell", (t, number) -> told.add(number))
                        .parallelism(2);
            });
            Dag<Integer, List<Collected<@Nullable Void>>> collecting =
                    Dag.of("telling some", Integer.class, builder -> {
                        var numbers = builder.task("numbers", DagForEachScenarios::numbers);
                        return builder.forEach(numbers)
                                .run("tell", (t, number) -> broken(number))
                                .parallelism(2)
                                .collect()
                                .retry(RetryPolicy.none());
                    });
            perdure.register(dag, collecting);
            assertThat(perdure.start(dag, 0).result()).isEmpty();
            assertThat(perdure.start(dag, 3).result()).containsExactly(null, null, null);
            assertThat(told).containsExactlyInAnyOrder(0, 1, 2);
            assertThat(perdure.start(collecting, 2).result())
                    .containsExactly(
                            new Collected<>(null, "java.lang.IllegalStateException: broken 0"),
                            new Collected<>(null, "java.lang.IllegalStateException: broken 1"));
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_cancel_and_a_kill_of_the_dag_reach_the_items(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Dag<Integer, List<Integer>> dag = Dag.of("stopped", Integer.class, builder -> {
                var numbers = builder.task("numbers", DagForEachScenarios::numbers);
                return builder.forEach(numbers)
                        .task("picky", (t, number) -> broken(number))
                        .retry(RetryPolicy.standard().initialDelay(Duration.ofHours(1)));
            });
            perdure.register(dag);
            DagRun<List<Integer>> cancelled = perdure.start(dag, 3, id("c"));
            DagRun<List<Integer>> killed = perdure.start(dag, 3, id("k"));
            perdure.settle();
            perdure.advance(Duration.ofMinutes(1));
            cancelled.cancel("not now");
            killed.kill("enough");
            assertThatThrownBy(cancelled::result).hasMessageContaining("CANCELLED: not now");
            assertThatThrownBy(killed::result).hasMessageContaining("CANCELLED: enough");
            perdure.settle();
            assertThat(perdure.runs(RunFilter.all().definition("stopped/picky*"))
                            .list())
                    .hasSize(6)
                    .allMatch(item -> item.state() == RunState.CANCELLED);
        }
    }

    private static int broken(int number) {
        throw new IllegalStateException("broken " + number);
    }

    @ParameterizedTest
    @EnumSource
    void exactly_as_many_items_although_a_worker_dies_while_they_are_started(TestMode mode) {
        for (int commit = 0; commit < 12; commit++) {
            try (PerdureTest perdure = create(mode)) {
                Dag<Integer, Integer> dag = summing(2);
                perdure.register(dag);
                perdure.settle();
                if (commit % 2 == 0) {
                    perdure.crashAfterCommit(commit);
                } else {
                    perdure.crashBeforeCommit(commit);
                }
                DagRun<Integer> run = perdure.start(dag, 6, id("g"));
                assertThat(run.result()).isEqualTo(55);
                assertThat(perdure.runs(RunFilter.all().definition("summing/squares*"))
                                .list())
                        .hasSize(6)
                        .allMatch(item -> item.state() == RunState.COMPLETED);
            }
        }
    }
}
