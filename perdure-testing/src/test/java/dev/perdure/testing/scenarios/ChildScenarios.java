package dev.perdure.testing.scenarios;

import static dev.perdure.ChildOptions.after;
import static dev.perdure.ChildOptions.childId;
import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Child;
import dev.perdure.ChildOptions;
import dev.perdure.Definition;
import dev.perdure.DurableFuture;
import dev.perdure.Invocation;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.TypeRef;
import dev.perdure.Workflow;
import dev.perdure.WorkflowContext;
import dev.perdure.error.DeadlineExceededException;
import dev.perdure.error.RunConflictException;
import dev.perdure.error.RunFailedException;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

abstract class ChildScenarios extends Scenarios {
    private static final Duration HOUR = Duration.ofHours(1);

    private static final Definition<String, String> SLOW = workflow("slow", (ctx, in) -> {
        ctx.sleep(HOUR);
        return in + " at " + ctx.now();
    });

    private static final Definition<String, String> FAILING = workflow("failing", (ctx, in) -> fail(in));

    private static String fail(String in) {
        throw new IllegalStateException(in);
    }

    /** The run with this id, or the child whose generated id begins with it. */
    private static Run<String> find(PerdureTest perdure, String begin) {
        RunId run = perdure.runs(RunFilter.all()).list().stream()
                .map(RunInfo::id)
                .filter(each -> each.value().equals(begin) || each.value().startsWith(begin + "-"))
                .findFirst()
                .orElseThrow();
        return perdure.run(run, TypeRef.of(String.class));
    }

    @ParameterizedTest
    @EnumSource
    void a_call_waits_for_the_childs_result_and_holds_nothing(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicInteger entered = new AtomicInteger();
            Definition<String, String> parent = workflow("parent", (ctx, in) -> {
                entered.incrementAndGet();
                return "got " + ctx.call(Invocation.of(SLOW, in));
            });
            perdure.register(parent, SLOW);
            Run<String> run = perdure.start(Invocation.of(parent, "x"), id("p"));
            perdure.settle();
            assertThat(run.state()).isEqualTo(RunState.SUSPENDED);
            assertThat(run.info().wakeAt()).isEmpty();
            assertThat(find(perdure, "p/1").info().definition()).isEqualTo("slow");
            assertThat(entered).hasValue(1);
            assertThat(run.result()).isEqualTo("got x at 2030-01-01T01:00:00Z");
            assertThat(entered).hasValue(2);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_childs_failure_reaches_the_parent_with_its_own_stack_and_the_same_on_replay(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> seen = new CopyOnWriteArrayList<>();
            Definition<String, String> parent = workflow("parent", (ctx, in) -> {
                try {
                    return ctx.startChild(Invocation.of(FAILING, "broken"), childId("c"))
                            .await();
                } catch (RunFailedException failed) {
                    Throwable cause = failed.getCause();
                    seen.add(failed.getMessage() + " " + failed.state() + " "
                            + failed.runId().value() + " "
                            + Arrays.stream(cause.getStackTrace())
                                    .anyMatch(at -> at.getMethodName().equals("fail")));
                    ctx.sleep(HOUR);
                    throw failed;
                }
            });
            perdure.register(parent, FAILING);
            Run<String> run = perdure.start(Invocation.of(parent, "x"), id("p"));
            assertThatThrownBy(run::result)
                    .hasMessageContaining("Child 'c' is FAILED: java.lang.IllegalStateException: broken");
            assertThat(seen)
                    .hasSizeGreaterThanOrEqualTo(2)
                    .containsOnly("Child 'c' is FAILED: java.lang.IllegalStateException: broken FAILED c true");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_child_that_is_cancelled_or_killed_is_a_failure_of_that_child(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> parent = workflow("parent", (ctx, in) -> {
                try {
                    return ctx.startChild(Invocation.of(SLOW, in), childId(in)).await();
                } catch (RunFailedException failed) {
                    return failed.getMessage();
                }
            });
            perdure.register(parent, SLOW);
            Run<String> cancelled = perdure.start(Invocation.of(parent, "c"));
            Run<String> killed = perdure.start(Invocation.of(parent, "k"));
            perdure.settle();
            find(perdure, "c").cancel("not now");
            find(perdure, "k").kill("enough");
            assertThat(cancelled.result()).isEqualTo("Child 'c' is CANCELLED: not now");
            assertThat(killed.result()).isEqualTo("Child 'k' is CANCELLED: enough");
        }
    }

    @ParameterizedTest
    @EnumSource
    void children_run_beside_their_parent_and_are_awaited_in_any_order(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> parent = workflow("parent", (ctx, in) -> {
                Child<String> first = ctx.startChild(Invocation.of(SLOW, "first"));
                Child<String> second = ctx.startChild(Invocation.of(SLOW, "second"), childId("chosen"));
                ctx.step("between", () -> {});
                return second.id() + " " + second.await() + ", " + first.id() + " " + first.await();
            });
            perdure.register(parent, SLOW);
            assertThat(perdure.start(Invocation.of(parent, "x"), id("p")).result())
                    .matches("chosen second at 2030-01-01T01:00:00Z, p/1-[0-9a-f]{12} first at 2030-01-01T01:00:00Z");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_child_that_is_not_awaited_outlives_its_parent(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> parent = workflow(
                    "parent",
                    (ctx, in) -> ctx.startChild(Invocation.of(SLOW, in)).id().value());
            perdure.register(parent, SLOW);
            Run<String> run = perdure.start(Invocation.of(parent, "x"), id("p"));
            perdure.settle();
            assertThat(run.state()).isEqualTo(RunState.COMPLETED);
            assertThat(find(perdure, "p/1").result()).isEqualTo("x at 2030-01-01T01:00:00Z");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_run_that_is_spawned_is_independent_of_the_run_that_spawned_it(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> parent = workflow("parent", (ctx, in) -> {
                RunId spawned = ctx.spawn(Invocation.of(SLOW, in), StartOptions.defaults());
                RunId chosen = ctx.spawn(Invocation.of(SLOW, in), id("chosen").delay(HOUR));
                ctx.spawn(Invocation.of(FAILING, "unseen"), StartOptions.defaults());
                // The id is taken, so nothing happens.
                ctx.spawn(Invocation.of(FAILING, "other"), id("chosen"));
                ctx.sleep(HOUR.multipliedBy(10));
                return spawned + " " + chosen;
            });
            perdure.register(parent, SLOW, FAILING);
            Run<String> run = perdure.start(Invocation.of(parent, "x"), id("p"));
            perdure.settle();
            run.kill("enough");
            assertThat(find(perdure, "p/1").result()).isEqualTo("x at 2030-01-01T01:00:00Z");
            assertThat(find(perdure, "chosen").result()).isEqualTo("x at 2030-01-01T02:00:00Z");
            assertThat(run.state()).isEqualTo(RunState.CANCELLED);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_delayed_child_begins_at_its_time(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> parent = workflow(
                    "parent",
                    (ctx, in) ->
                            ctx.startChild(Invocation.of(SLOW, in), after(HOUR)).await());
            perdure.register(parent, SLOW);
            Run<String> run = perdure.start(Invocation.of(parent, "x"), id("p"));
            perdure.advance(HOUR.minusNanos(1_000));
            assertThat(find(perdure, "p/1").history()).allMatch(event -> event.position() == 0);
            perdure.crash();
            assertThat(run.result()).isEqualTo("x at 2030-01-01T02:00:00Z");
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_id_that_is_taken_is_an_error_of_that_child_only(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> parent = workflow("parent", (ctx, in) -> {
                Child<String> taken = ctx.startChild(Invocation.of(SLOW, in), childId("taken"));
                Child<String> free = ctx.startChild(Invocation.of(SLOW, in), childId("free"));
                try {
                    return taken.await();
                } catch (RunConflictException refused) {
                    return refused.getMessage() + " " + free.await();
                }
            });
            perdure.register(parent, SLOW);
            Run<String> stranger = perdure.start(Invocation.of(SLOW, "stranger"), id("taken"));
            assertThat(perdure.start(Invocation.of(parent, "x")).result())
                    .isEqualTo("The run id 'taken' is taken. Choose another id for the child. "
                            + "x at 2030-01-01T01:00:00Z");
            assertThat(stranger.result()).isEqualTo("stranger at 2030-01-01T01:00:00Z");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_child_inherits_its_parents_deadline_unless_its_own_is_earlier(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> parent = workflow("parent", (ctx, in) -> {
                ctx.sleep(Duration.ofMinutes(10));
                ctx.startChild(Invocation.of(SLOW, "inherits"), childId("inherits"));
                ctx.startChild(Invocation.of(SLOW, "own"), childId("own").timeout(Duration.ofMinutes(5)));
                return in;
            });
            perdure.register(parent, SLOW);
            perdure.start(Invocation.of(parent, "x"), id("p").timeout(Duration.ofMinutes(30)));
            perdure.advance(HOUR);
            assertThat(find(perdure, "inherits").info().reason().orElseThrow())
                    .contains("has passed its deadline 2030-01-01T00:30:00Z");
            assertThat(find(perdure, "own").info().reason().orElseThrow())
                    .contains("has passed its deadline 2030-01-01T00:15:00Z");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_child_that_takes_back_after_the_deadline_is_not_bound_by_it(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> parent = workflow("parent", (ctx, in) -> {
                try {
                    ctx.sleep(HOUR.multipliedBy(2));
                    return in;
                } catch (DeadlineExceededException late) {
                    return ctx.call(Invocation.of(SLOW, "taken back"));
                }
            });
            perdure.register(parent, SLOW);
            assertThat(perdure.start(Invocation.of(parent, "x"), id("p").timeout(HOUR))
                            .result())
                    .isEqualTo("taken back at 2030-01-01T02:00:00Z");
        }
    }

    @ParameterizedTest
    @EnumSource
    void calls_go_as_deep_as_one_likes(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            class Self {
                Definition<Integer, Integer> depth = Definition.of(
                        "depth", Integer.class, Integer.class, (ctx, in) -> in == 0 ? 0 : 1 + call(ctx, in - 1));

                private int call(WorkflowContext ctx, int deeper) {
                    return ctx.call(Invocation.of(depth, deeper));
                }
            }
            Self self = new Self();
            perdure.register(self.depth);
            assertThat(perdure.start(Invocation.of(self.depth, 80), id("top")).result())
                    .isEqualTo(80);
            assertThat(perdure.runs(RunFilter.all().definition("depth").limit(100))
                            .list())
                    .hasSize(81)
                    .allSatisfy(run -> assertThat(run.id().value().length()).isLessThanOrEqualTo(RunId.MAX_LENGTH));
        }
    }

    /** Workflows as annotated methods. */
    public static final class Kitchen {
        final List<String> log = new CopyOnWriteArrayList<>();

        @Workflow("cook")
        public String cook(WorkflowContext ctx, String dish) {
            return "cooked " + dish;
        }

        @Workflow("menu")
        public String menu(WorkflowContext ctx) {
            return "soup";
        }

        @Workflow("wash")
        public void wash(WorkflowContext ctx, String dish) {
            ctx.step("wash", () -> log.add("washed " + dish));
        }

        @Workflow("dinner")
        public String dinner(WorkflowContext ctx, Integer guests) {
            String menu = ctx.call(Invocation.of(Kitchen::menu));
            String again = ctx.startChild(Invocation.of(Kitchen::menu), ChildOptions.defaults())
                    .await();
            List<Child<String>> dishes = new ArrayList<>();
            for (int i = 0; i < guests; i++) {
                dishes.add(ctx.startChild(Invocation.of(Kitchen::cook, menu + i)));
            }
            String served =
                    ctx.call(Kitchen::cook, again) + DurableFuture.all(dishes).await();
            ctx.call(Kitchen::wash, "pot");
            ctx.startChild(Invocation.of(Kitchen::wash, "plate"), ChildOptions.defaults())
                    .await();
            ctx.spawn(Invocation.of(Kitchen::cook, "later"), id("later"));
            return served;
        }
    }

    @ParameterizedTest
    @EnumSource
    void method_references_name_children(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Kitchen kitchen = new Kitchen();
            perdure.register(kitchen);
            assertThat(perdure.start(Kitchen::dinner, 2).result()).isEqualTo("cooked soup[cooked soup0, cooked soup1]");
            assertThat(kitchen.log).containsExactly("washed pot", "washed plate");
            assertThat(find(perdure, "later").result()).isEqualTo("cooked later");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_parent_that_waits_for_a_child_or_a_time_takes_what_comes_first(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> parent = workflow("parent", (ctx, in) -> {
                Child<String> child = ctx.startChild(Invocation.of(SLOW, in));
                int first = DurableFuture.any(ctx.timer(Duration.ofMinutes(1)), child)
                        .await();
                int second = DurableFuture.any(child, ctx.timer(HOUR)).await();
                return first + " " + second + " " + child.await();
            });
            perdure.register(parent, SLOW);
            Run<String> run = perdure.start(Invocation.of(parent, "x"));
            perdure.advance(Duration.ofMinutes(30));
            perdure.crash();
            assertThat(run.result()).isEqualTo("0 0 x at 2030-01-01T01:00:00Z");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_list_of_children_is_worked_off_so_many_at_a_time(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> parent = workflow(
                    "parent",
                    (ctx, in) -> DurableFuture.parallel(
                                    List.of("a", "b", "c", "d", "e"),
                                    2,
                                    each -> ctx.startChild(Invocation.of(SLOW, each)))
                            .getLast());
            perdure.register(parent, SLOW);
            assertThat(perdure.start(Invocation.of(parent, "x")).result()).isEqualTo("e at 2030-01-01T03:00:00Z");
        }
    }

    @Test
    void ten_thousand_children_of_one_parent_all_answer_it() {
        try (PerdureTest perdure = create(TestMode.NORMAL)) {
            AtomicInteger entered = new AtomicInteger();
            Definition<Integer, Integer> leaf =
                    Definition.of("leaf", Integer.class, Integer.class, (ctx, in) -> in * 2);
            Definition<Integer, Integer> parent = Definition.of("wide", Integer.class, Integer.class, (ctx, count) -> {
                entered.incrementAndGet();
                List<Child<Integer>> children = IntStream.range(0, count)
                        .mapToObj(number -> ctx.startChild(Invocation.of(leaf, number)))
                        .toList();
                return DurableFuture.all(children).await().stream()
                        .mapToInt(Integer::intValue)
                        .sum();
            });
            perdure.register(parent, leaf);
            assertThat(perdure.start(Invocation.of(parent, 10_000)).result()).isEqualTo(99_990_000);
            assertThat(entered).hasValueLessThanOrEqualTo(2);
        }
    }
}
