package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.DurableFuture;
import dev.perdure.Invocation;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.Settled;
import dev.perdure.Topic;
import dev.perdure.error.RejectedException;
import dev.perdure.error.TimedOutException;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

abstract class CombinatorScenarios extends Scenarios {
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Topic<String> ONE = Topic.of("one", String.class);
    private static final Topic<String> TWO = Topic.of("two", String.class);

    @ParameterizedTest
    @EnumSource
    void the_first_wins_and_still_wins_on_replay_when_the_other_has_come_since(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("any", (ctx, in) -> {
                DurableFuture<String> one = ctx.promise(ONE);
                DurableFuture<String> two = ctx.promise(TWO);
                int winner = DurableFuture.any(one, two).await();
                ctx.sleep(HOUR);
                return winner + " " + List.of(one, two).get(winner).await() + " " + one.await();
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            perdure.settle();
            run.promise(TWO).resolve("second");
            perdure.settle();
            run.promise(ONE).resolve("first");
            perdure.crash();
            assertThat(run.result()).isEqualTo("1 second first");
        }
    }

    @ParameterizedTest
    @EnumSource
    void all_of_nothing_is_an_empty_list(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<Integer, String> flow = Definition.of("fan-out", Integer.class, String.class, (ctx, count) -> {
                List<DurableFuture<Integer>> steps = IntStream.range(0, count)
                        .mapToObj(i -> ctx.stepAsync("step", () -> i))
                        .toList();
                DurableFuture<List<Integer>> all = DurableFuture.all(steps);
                DurableFuture<Integer> size = DurableFuture.allSettled(steps).map(List::size);
                ctx.sleep(HOUR);
                DurableFuture<String> later = ctx.timer(HOUR).map(nothing -> "later");
                DurableFuture<String> failing = DurableFuture.all(List.of()).map(none -> {
                    throw new IllegalStateException("in map");
                });
                return List.of(
                                all.await(),
                                all.orTimeout(HOUR).await(),
                                all.await(HOUR).orElseThrow(),
                                size.await(),
                                DurableFuture.all(List.of(size, all.map(List::size)))
                                        .await(),
                                DurableFuture.any(later, all).await(),
                                DurableFuture.race(List.of(later, all.map(List::toString)))
                                        .await(),
                                DurableFuture.firstSucceeded(List.of(failing, later))
                                        .await(),
                                DurableFuture.firstSucceeded(List.of(failing, all.map(List::toString)))
                                        .await(),
                                DurableFuture.allSettled(List.of(failing))
                                        .await()
                                        .size(),
                                DurableFuture.parallel(List.<Integer>of(), 3, i -> ctx.stepAsync("step", () -> i)))
                        .toString();
            });
            perdure.register(flow);
            assertThat(perdure.start(Invocation.of(flow, 0)).result())
                    .isEqualTo("[[], [], [], 0, [0, 0], 1, [], later, [], 1, []]");
            assertThat(perdure.start(Invocation.of(flow, 2)).result())
                    .isEqualTo("[[0, 1], [0, 1], [0, 1], 2, [2, 2], 1, [0, 1], later, [0, 1], 1, []]");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_failure_counts_as_the_first_to_settle(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> caught = new CopyOnWriteArrayList<>();
            Definition<String, String> flow = workflow("race", (ctx, in) -> {
                DurableFuture<String> one = ctx.promise(ONE);
                DurableFuture<String> two = ctx.promise(TWO);
                try {
                    return DurableFuture.race(List.of(one, two)).await();
                } catch (RejectedException rejected) {
                    ctx.sleep(HOUR);
                    caught.add(rejected.getMessage());
                    return one.await() + " after " + rejected.getMessage();
                }
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            perdure.settle();
            run.promise(TWO).reject("no");
            perdure.settle();
            run.promise(ONE).resolve("yes");
            assertThat(run.result()).isEqualTo("yes after no");
            assertThat(caught).containsOnly("no");
        }
    }

    @ParameterizedTest
    @EnumSource
    void all_waits_for_all_and_gives_them_in_their_order(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("all", (ctx, in) -> {
                List<DurableFuture<String>> parts = List.of(
                        ctx.promise(ONE),
                        ctx.stepAsync("step", () -> "step"),
                        ctx.timer(HOUR).map(unused -> "timer"),
                        ctx.promise(TWO));
                return String.join(" ", DurableFuture.all(parts).await());
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            perdure.settle();
            run.promise(TWO).resolve("two");
            perdure.advance(HOUR);
            assertThat(run.state()).isIn(RunState.SUSPENDED, RunState.RUNNING);
            assertThat(run.resultNow()).isEmpty();
            perdure.crash();
            run.promise(ONE).resolve("one");
            assertThat(run.result()).isEqualTo("one step timer two");
            assertThat(perdure.now()).isEqualTo("2030-01-01T01:00:00Z");
        }
    }

    @ParameterizedTest
    @EnumSource
    void all_fails_with_the_first_failure_and_leaves_the_rest_alone(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("all", (ctx, in) -> {
                DurableFuture<String> one = ctx.promise(ONE);
                DurableFuture<String> two = ctx.promise(TWO);
                DurableFuture<List<String>> both = DurableFuture.all(List.of(one, two));
                try {
                    return "" + both.await();
                } catch (RejectedException first) {
                    ctx.sleep(HOUR);
                    // The other has failed meanwhile as well, and is first in the list.
                    assertThatThrownBy(both::await).hasMessage(first.getMessage());
                    return first.getMessage() + ", then "
                            + ctx.promise(Topic.of("three", String.class)).await();
                }
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            perdure.settle();
            run.promise(TWO).reject("second");
            perdure.settle();
            run.promise(ONE).reject("first");
            perdure.crash();
            perdure.advance(HOUR);
            run.promise(Topic.of("three", String.class)).resolve("third");
            assertThat(run.result()).isEqualTo("second, then third");
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_first_to_succeed_is_taken_and_failures_before_it_are_not(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("firstSucceeded", (ctx, in) -> {
                String won = DurableFuture.firstSucceeded(List.of(ctx.promise(ONE), ctx.promise(TWO)))
                        .await();
                ctx.sleep(HOUR);
                return won;
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            perdure.settle();
            run.promise(ONE).reject("no");
            perdure.settle();
            assertThat(run.resultNow()).isEmpty();
            run.promise(TWO).resolve("yes");
            assertThat(run.result()).isEqualTo("yes");

            Run<String> hopeless = perdure.start(Invocation.of(flow, "x"));
            perdure.settle();
            hopeless.promise(TWO).reject("no two");
            hopeless.promise(ONE).reject("no one");
            assertThatThrownBy(hopeless::result).hasMessageContaining("RejectedException: no two");
        }
    }

    @ParameterizedTest
    @EnumSource
    void all_settled_gives_values_and_failures(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("allSettled", (ctx, in) -> {
                List<Settled<String>> settled = DurableFuture.allSettled(List.of(ctx.promise(ONE), ctx.promise(TWO)))
                        .await();
                ctx.step("between", () -> {});
                return settled.get(0).failure().getMessage() + settled.get(0).succeeded() + " "
                        + settled.get(1).value() + settled.get(1).succeeded();
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            perdure.settle();
            run.promise(ONE).reject("no");
            perdure.settle();
            assertThat(run.resultNow()).isEmpty();
            run.promise(TWO).resolve("yes");
            assertThat(run.result()).isEqualTo("nofalse yestrue");
        }
    }

    @ParameterizedTest
    @EnumSource
    void any_of_all_and_all_of_any(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Topic<String> three = Topic.of("three", String.class);
            Topic<String> four = Topic.of("four", String.class);
            Definition<String, String> flow = workflow("nested", (ctx, in) -> {
                DurableFuture<List<String>> left = DurableFuture.all(List.of(ctx.promise(ONE), ctx.promise(TWO)));
                DurableFuture<List<String>> right = DurableFuture.all(List.of(ctx.promise(three), ctx.promise(four)));
                if (in.equals("any of all")) {
                    return "" + DurableFuture.race(List.of(left, right)).await();
                }
                DurableFuture<String> first = DurableFuture.race(List.of(ctx.promise(ONE), ctx.promise(TWO)));
                DurableFuture<String> second = DurableFuture.race(List.of(ctx.promise(three), ctx.promise(four)));
                return "" + DurableFuture.all(List.of(first, second)).await();
            });
            perdure.register(flow);
            for (String which : List.of("any of all", "all of any")) {
                Run<String> run = perdure.start(Invocation.of(flow, which));
                perdure.settle();
                run.promise(TWO).resolve("2");
                perdure.settle();
                assertThat(run.resultNow()).isEmpty();
                perdure.crash();
                run.promise(four).resolve("4");
                if (which.equals("any of all")) {
                    run.promise(three).resolve("3");
                }
                assertThat(run.result()).isEqualTo(which.equals("any of all") ? "[3, 4]" : "[2, 4]");
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void futures_are_awaited_in_reverse_twice_and_when_they_are_settled_already(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("reverse", (ctx, in) -> {
                DurableFuture<String> one = ctx.stepAsync("one", () -> "1");
                DurableFuture<String> two = ctx.promise(TWO);
                DurableFuture<String> three = ctx.timer(HOUR).map(unused -> "3");
                String back = three.await() + two.await() + one.await();
                String again = one.await() + two.await() + three.await();
                return back
                        + again
                        + DurableFuture.all(List.of(one, two, three)).await()
                        + DurableFuture.any(one).await();
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            run.promise(TWO).resolve("2");
            assertThat(run.result()).isEqualTo("321123[1, 2, 3]0");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_timeout_fires_the_same_on_replay_and_what_was_waited_for_goes_on(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("timeout", (ctx, in) -> {
                DurableFuture<String> one = ctx.promise(ONE);
                DurableFuture<String> hurried = one.orTimeout(HOUR);
                try {
                    return hurried.await();
                } catch (TimedOutException late) {
                    ctx.sleep(HOUR);
                    assertThatThrownBy(hurried::await).isInstanceOf(TimedOutException.class);
                    return late.getMessage() + " " + one.await();
                }
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            perdure.advance(HOUR.minusNanos(1_000));
            assertThat(run.info().wakeAt()).contains(perdure.now().plusNanos(1_000));
            perdure.advance(Duration.ofNanos(1_000));
            run.promise(ONE).resolve("later");
            perdure.crash();
            assertThat(run.result()).isEqualTo("Promise 'one' did not arrive within PT1H. later");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_value_beats_its_timeout(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("in time", (ctx, in) -> {
                String came = ctx.promise(ONE).orTimeout(HOUR).await();
                ctx.sleep(HOUR.multipliedBy(2));
                return came;
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            perdure.advance(HOUR.minusNanos(1_000));
            run.promise(ONE).resolve("in time");
            perdure.advance(HOUR);
            perdure.crash();
            assertThat(run.result()).isEqualTo("in time");
        }
    }

    @ParameterizedTest
    @EnumSource
    void when_value_and_timeout_are_there_at_once_what_was_decided_stays(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("at once", (ctx, in) -> {
                DurableFuture<String> one = ctx.promise(ONE);
                int winner = DurableFuture.any(ctx.timer(HOUR), one).await();
                String came = one.orTimeout(Duration.ZERO).await();
                ctx.sleep(HOUR);
                return winner + " " + came;
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            perdure.settle();
            perdure.crashAll();
            perdure.advance(HOUR);
            run.promise(ONE).resolve("both");
            perdure.startWorker();
            perdure.settle();
            perdure.crash();
            // If several are settled, the first in the list counts, so a value wins over its timeout.
            assertThat(run.result()).isEqualTo("0 both");
        }
    }

    @ParameterizedTest
    @EnumSource
    void waiting_for_many_things_at_once_is_one_suspended_row(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("many", (ctx, in) -> {
                List<DurableFuture<Integer>> timers = new ArrayList<>();
                for (int i = 1; i <= 50; i++) {
                    int number = i;
                    timers.add(ctx.timer(Duration.ofMinutes(i)).map(unused -> number));
                }
                int first = DurableFuture.race(timers).await();
                int sum = DurableFuture.all(timers).await().stream()
                        .mapToInt(Integer::intValue)
                        .sum();
                return first + " " + sum + " " + ctx.now();
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            perdure.settle();
            assertThat(run.state()).isEqualTo(RunState.SUSPENDED);
            assertThat(run.info().wakeAt()).contains(perdure.now().plus(Duration.ofMinutes(1)));
            assertThat(run.result()).isEqualTo("1 1275 2030-01-01T00:50:00Z");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_timer_that_runs_beside_other_work_is_counted_from_its_beginning(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("beside", (ctx, in) -> {
                DurableFuture<?> timer = ctx.timer(Duration.ofHours(3));
                ctx.sleep(HOUR);
                ctx.step("work", () -> {});
                ctx.sleep(HOUR);
                timer.await();
                return ctx.now().toString();
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            perdure.advance(Duration.ofMinutes(90));
            perdure.crash();
            assertThat(run.result()).isEqualTo("2030-01-01T03:00:00Z");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_function_is_mapped_over_what_comes_and_its_exception_is_the_futures(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("map", (ctx, in) -> {
                DurableFuture<Integer> length = ctx.promise(ONE).map(String::length);
                DurableFuture<Integer> broken = ctx.promise(ONE).map(Integer::parseInt);
                int first = DurableFuture.any(broken, length.map(chars -> chars * 2))
                        .await();
                ctx.sleep(HOUR);
                try {
                    return "" + broken.await();
                } catch (NumberFormatException thrown) {
                    return first + " " + length.await() + " " + thrown.getMessage();
                }
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            perdure.settle(); // both wait, so both settle at the same time
            run.promise(ONE).resolve("three");
            assertThat(run.result()).isEqualTo("0 5 For input string: \"three\"");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_function_over_a_list_gives_results_in_the_order_of_the_list(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("parallel", (ctx, in) -> {
                // The longest first, so that they end in another order than they begin.
                List<Integer> hours = List.of(5, 1, 4, 2, 3);
                List<Integer> back = DurableFuture.parallel(
                        hours, 2, each -> ctx.timer(Duration.ofHours(each)).map(unused -> each * 10));
                return back + " " + ctx.now() + DurableFuture.parallel(List.of(), 3, unused -> ctx.timer(HOUR));
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            perdure.advance(Duration.ofHours(2));
            perdure.crash();
            // Two at a time: 5 with 1 and then 4; at 5, when the 4 ends as well, 2 and 3.
            assertThat(run.result()).isEqualTo("[50, 10, 40, 20, 30] 2030-01-01T08:00:00Z[]");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_wait_for_one_of_many_wakes_only_for_those(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> entered = new CopyOnWriteArrayList<>();
            Definition<String, String> flow = workflow("deaf", (ctx, in) -> {
                entered.add("entered");
                return DurableFuture.race(List.of(ctx.promise(ONE), ctx.promise(TWO)))
                        .await();
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("deaf"));
            perdure.settle();
            assertThat(run.state()).isEqualTo(RunState.SUSPENDED);
            int before = entered.size();
            IntStream.range(0, 20).forEach(i -> run.send(Topic.of("noise", Integer.class), i));
            run.promise(Topic.of("other", String.class)).resolve("noise");
            perdure.settle();
            assertThat(entered).hasSize(before);
            run.promise(TWO).resolve("heard");
            assertThat(run.result()).isEqualTo("heard");
            assertThat(entered).hasSize(before + 1);
        }
    }
}
