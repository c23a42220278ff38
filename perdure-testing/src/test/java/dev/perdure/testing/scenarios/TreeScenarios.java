package dev.perdure.testing.scenarios;

import static dev.perdure.ChildOptions.childId;
import static dev.perdure.StartOptions.id;
import static dev.perdure.StepOptions.retry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.ChildOptions.OnCancel;
import dev.perdure.Definition;
import dev.perdure.DurableFuture;
import dev.perdure.Invocation;
import dev.perdure.RetryPolicy;
import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.Topic;
import dev.perdure.TypeRef;
import dev.perdure.WorkflowContext;
import dev.perdure.error.CancelledException;
import dev.perdure.error.DeadlineExceededException;
import dev.perdure.error.StepFailedException;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Cancel and kill of parents and of children. */
abstract class TreeScenarios extends Scenarios {
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Topic<String> NEWS = Topic.of("news", String.class);

    /** Sleeps for a day; when it is cancelled it takes an hour to clean up. */
    private static Definition<String, String> child(List<String> done) {
        return workflow("child", (ctx, in) -> {
            try {
                ctx.sleep(Duration.ofDays(1));
                return in;
            } catch (CancelledException cancelled) {
                ctx.sleep(HOUR);
                ctx.step("clean up", () -> done.add("child: " + cancelled.getMessage()));
                throw cancelled;
            }
        });
    }

    private static Run<String> find(PerdureTest perdure, String run) {
        return perdure.run(RunId.of(run), TypeRef.of(String.class));
    }

    static Stream<Arguments> waitsInEveryMode() {
        return Stream.of(TestMode.values())
                .flatMap(mode -> Stream.of(
                                "child", "message", "promise", "awakeable", "event", "timer", "timeout", "all")
                        .map(wait -> Arguments.of(mode, wait)));
    }

    private static DurableFuture<?> begin(WorkflowContext ctx, Definition<String, String> child, String what) {
        return switch (what) {
            case "child" ->
                ctx.startChild(Invocation.of(child, "x"), childId("c").onCancel(OnCancel.ABANDON));
            case "message" -> ctx.receive(NEWS);
            case "promise" -> ctx.promise(NEWS);
            case "awakeable" -> ctx.awakeable(String.class);
            case "event" -> ctx.event(NEWS);
            case "timer" -> ctx.timer(HOUR);
            case "timeout" -> ctx.receive(NEWS).orTimeout(HOUR);
            default -> DurableFuture.all(List.of(ctx.receive(NEWS), ctx.promise(NEWS)));
        };
    }

    @ParameterizedTest
    @MethodSource("waitsInEveryMode")
    void a_cancel_ends_any_wait_and_compensation_runs(TestMode mode, String wait) {
        try (PerdureTest perdure = create(mode)) {
            List<String> done = new CopyOnWriteArrayList<>();
            Definition<String, String> child = child(done);
            Definition<String, String> flow = workflow("waiting", (ctx, in) -> {
                try {
                    begin(ctx, child, in).await();
                    return "not cancelled";
                } catch (CancelledException cancelled) {
                    // Compensation may wait as well.
                    ctx.receive(NEWS).await(HOUR);
                    ctx.step("undo", () -> done.add("undo: " + cancelled.getMessage()));
                    throw cancelled;
                }
            });
            perdure.register(flow, child);
            Run<String> run = perdure.start(Invocation.of(flow, wait), id("w"));
            perdure.settle();
            assertThat(run.state()).isEqualTo(RunState.SUSPENDED);
            run.cancel("changed my mind");
            perdure.settle();
            perdure.crash();
            assertThatThrownBy(run::result).hasMessage("Run 'w' is CANCELLED: changed my mind");
            assertThat(done).containsExactly("undo: changed my mind");
            assertThat(perdure.now()).isEqualTo("2030-01-01T01:00:00Z");
        }
    }

    @ParameterizedTest
    @MethodSource("waitsInEveryMode")
    void a_deadline_ends_any_wait_at_its_time(TestMode mode, String wait) {
        try (PerdureTest perdure = create(mode)) {
            List<String> done = new CopyOnWriteArrayList<>();
            Definition<String, String> child = child(done);
            Definition<String, String> flow = workflow("waiting", (ctx, in) -> {
                try {
                    begin(ctx, child, in).await();
                    return "in time";
                } catch (DeadlineExceededException late) {
                    ctx.step("undo", () -> done.add("undo at " + perdure.now()));
                    throw late;
                }
            });
            perdure.register(flow, child);
            Run<String> run = perdure.start(Invocation.of(flow, wait), id("w").timeout(Duration.ofMinutes(10)));
            perdure.advance(Duration.ofMinutes(5));
            perdure.crash();
            assertThatThrownBy(run::result)
                    .hasMessageContaining("Run 'w' has passed its deadline 2030-01-01T00:10:00Z.");
            assertThat(done).containsExactly("undo at 2030-01-01T00:10:00Z");
        }
    }

    static Stream<Arguments> meaningsInEveryMode() {
        return Stream.of(TestMode.values())
                .flatMap(mode -> Stream.of(OnCancel.values()).map(meaning -> Arguments.of(mode, meaning)));
    }

    @ParameterizedTest
    @MethodSource("meaningsInEveryMode")
    void a_cancel_of_the_parent_means_for_its_child_what_was_chosen(TestMode mode, OnCancel meaning) {
        try (PerdureTest perdure = create(mode)) {
            List<String> done = new CopyOnWriteArrayList<>();
            Definition<String, String> child = child(done);
            Definition<String, String> parent = workflow("parent", (ctx, in) -> {
                ctx.startChild(Invocation.of(child, "first"), childId("first").onCancel(meaning));
                var second = ctx.startChild(
                        Invocation.of(child, "second"), childId("second").onCancel(meaning));
                try {
                    return second.await();
                } catch (CancelledException cancelled) {
                    ctx.step("undo", () -> done.add("parent: " + cancelled.getMessage()));
                    throw cancelled;
                }
            });
            perdure.register(parent, child);
            Run<String> run = perdure.start(Invocation.of(parent, "x"), id("p"));
            perdure.settle();
            run.cancel("stop");
            perdure.settle();
            perdure.crash();
            assertThatThrownBy(run::result).hasMessage("Run 'p' is CANCELLED: stop");
            perdure.advance(HOUR);
            String cleanedUp = "child: its parent was cancelled: stop";
            switch (meaning) {
                case CANCEL -> assertThat(done).containsExactly("parent: stop", cleanedUp, cleanedUp);
                case WAIT -> assertThat(done).containsExactly(cleanedUp, cleanedUp, "parent: stop");
                case ABANDON -> {
                    assertThat(done).containsExactly("parent: stop");
                    assertThat(find(perdure, "first").result()).isEqualTo("first");
                    assertThat(find(perdure, "second").result()).isEqualTo("second");
                }
            }
            if (meaning != OnCancel.ABANDON) {
                assertThat(find(perdure, "first").state()).isEqualTo(RunState.CANCELLED);
                assertThat(find(perdure, "second").state()).isEqualTo(RunState.CANCELLED);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_cancelled_run_waits_for_its_child_however_late_it_gets(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> done = new CopyOnWriteArrayList<>();
            Definition<String, String> child = workflow("child", (ctx, in) -> {
                try {
                    ctx.sleep(HOUR);
                    return in;
                } catch (CancelledException cancelled) {
                    try {
                        ctx.sleep(HOUR);
                    } catch (DeadlineExceededException late) {
                        ctx.sleep(Duration.ofMinutes(5));
                        ctx.step("clean up", () -> done.add("child at " + perdure.now()));
                    }
                    throw cancelled;
                }
            });
            Definition<String, String> parent = workflow(
                    "parent",
                    (ctx, in) -> ctx.startChild(
                                    Invocation.of(child, in), childId("c").onCancel(OnCancel.WAIT))
                            .await());
            perdure.register(parent, child);
            Run<String> run = perdure.start(Invocation.of(parent, "x"), id("p").timeout(Duration.ofMinutes(10)));
            perdure.advance(Duration.ofMinutes(5));
            run.cancel("stop");
            perdure.advance(Duration.ofMinutes(7));
            perdure.crash();
            assertThatThrownBy(run::result).hasMessage("Run 'p' is CANCELLED: stop");
            assertThat(done).containsExactly("child at 2030-01-01T00:15:00Z");
            assertThat(perdure.now()).isEqualTo("2030-01-01T00:15:00Z");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_cancel_goes_down_the_whole_tree_and_spares_children_that_have_ended(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> done = new CopyOnWriteArrayList<>();
            Definition<String, String> leaf = child(done);
            Definition<String, String> quick = workflow("quick", (ctx, in) -> in);
            Definition<String, String> middle = workflow(
                    "middle",
                    (ctx, in) -> ctx.startChild(Invocation.of(leaf, in), childId("leaf"))
                            .await());
            Definition<String, String> top = workflow("top", (ctx, in) -> {
                String ended = ctx.startChild(Invocation.of(quick, "ended"), childId("quick"))
                        .await();
                return ended
                        + ctx.startChild(Invocation.of(middle, in), childId("middle"))
                                .await();
            });
            perdure.register(top, middle, leaf, quick);
            Run<String> run = perdure.start(Invocation.of(top, "x"), id("top"));
            perdure.settle();
            run.cancel("stop");
            assertThatThrownBy(run::result).hasMessage("Run 'top' is CANCELLED: stop");
            perdure.advance(HOUR);
            assertThat(done).containsExactly("child: its parent was cancelled: its parent was cancelled: stop");
            assertThat(find(perdure, "middle").state()).isEqualTo(RunState.CANCELLED);
            assertThat(find(perdure, "leaf").state()).isEqualTo(RunState.CANCELLED);
            assertThat(find(perdure, "quick").state()).isEqualTo(RunState.COMPLETED);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_kill_takes_the_whole_tree_at_once_but_not_what_was_spawned(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> done = new CopyOnWriteArrayList<>();
            Definition<String, String> leaf = child(done);
            Definition<String, String> middle = workflow("middle", (ctx, in) -> {
                ctx.spawn(Invocation.of(leaf, "free"), id("free"));
                return ctx.startChild(Invocation.of(leaf, in), childId("leaf")).await();
            });
            Definition<String, String> top = workflow(
                    "top",
                    (ctx, in) -> ctx.startChild(
                                    Invocation.of(middle, in), childId("middle").onCancel(OnCancel.ABANDON))
                            .await());
            perdure.register(top, middle, leaf);
            Run<String> run = perdure.start(Invocation.of(top, "x"), id("top"));
            perdure.settle();
            run.kill("enough");
            perdure.settle();
            for (String each : List.of("top", "middle", "leaf")) {
                assertThatThrownBy(find(perdure, each)::result).hasMessage("Run '%s' is CANCELLED: enough", each);
            }
            assertThat(done).isEmpty();
            assertThat(find(perdure, "free").result()).isEqualTo("free");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_cancel_interrupts_bodies_beside_the_run_and_they_are_not_begun_again(TestMode mode) throws Exception {
        try (PerdureTest perdure = create(mode)) {
            List<String> done = new CopyOnWriteArrayList<>();
            CountDownLatch inBodies = new CountDownLatch(2);
            Definition<String, String> flow = workflow("beside", (ctx, in) -> {
                List<DurableFuture<String>> bodies = new ArrayList<>();
                for (String name : List.of("obedient", "stubborn")) {
                    bodies.add(ctx.stepAsync(name, () -> {
                        inBodies.countDown();
                        try {
                            await(new CountDownLatch(1));
                        } catch (InterruptedException stop) {
                            done.add(name + " interrupted");
                            if (name.equals("obedient")) {
                                throw stop;
                            }
                        }
                        return name;
                    }));
                }
                bodies.add(ctx.stepAsync(
                        "backing off",
                        () -> {
                            throw new IllegalStateException("not yet");
                        },
                        retry(RetryPolicy.standard().initialDelay(HOUR).jitter(0))));
                try {
                    DurableFuture.all(bodies).await();
                    return "not cancelled";
                } catch (CancelledException cancelled) {
                    ctx.step("undo", () -> done.add("undo"));
                    // The effect has happened and counts. The abandoned steps have failed finally.
                    String stubborn = bodies.get(1).await();
                    List<String> given = new ArrayList<>();
                    for (int i : List.of(0, 2)) {
                        try {
                            bodies.get(i).await();
                        } catch (StepFailedException failed) {
                            given.add(failed.getMessage());
                        }
                    }
                    return stubborn + given;
                }
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            await(inBodies);
            until(
                    () -> run.history().stream()
                            .anyMatch(
                                    event -> event.text()
                                            .equals(
                                                    "attempt 1 of step 'backing off' failed: java.lang.IllegalStateException: not yet")));
            run.cancel("stop");
            assertThat(run.result())
                    .isEqualTo("stubborn[Step 'obedient' failed after 0 attempts: "
                            + "dev.perdure.error.CancelledException: stop, "
                            + "Step 'backing off' failed after 1 attempt: dev.perdure.error.CancelledException: stop]");
            assertThat(done).hasSize(3).containsOnlyOnce("obedient interrupted", "stubborn interrupted");
            assertThat(done.getLast()).isEqualTo("undo");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_deadline_interrupts_bodies_beside_the_run_and_they_are_not_begun_again(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> done = new CopyOnWriteArrayList<>();
            Definition<String, String> flow = workflow("beside", (ctx, in) -> {
                DurableFuture<String> body = ctx.stepAsync("blocking", () -> {
                    try {
                        await(new CountDownLatch(1));
                    } catch (InterruptedException stop) {
                        done.add("interrupted");
                        throw stop;
                    }
                    return "?";
                });
                try {
                    return body.await();
                } catch (DeadlineExceededException late) {
                    ctx.step("undo", () -> done.add("undo"));
                    ctx.sleep(HOUR);
                    throw late;
                }
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("d").timeout(Duration.ofMillis(50)));
            assertThatThrownBy(run::result).hasMessageContaining("Run 'd' has passed its deadline");
            assertThat(done).containsExactly("interrupted", "undo");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_kill_ends_a_run_whose_bodies_will_not_be_interrupted(TestMode mode) throws Exception {
        try (PerdureTest perdure = create(mode)) {
            CountDownLatch inBody = new CountDownLatch(1);
            CountDownLatch release = new CountDownLatch(1);
            Definition<String, String> flow = workflow("deaf", (ctx, in) -> {
                ctx.stepAsync("deaf", () -> {
                            inBody.countDown();
                            while (release.getCount() > 0) {
                                try {
                                    await(release);
                                } catch (InterruptedException deaf) {
                                    // continues
                                }
                            }
                        })
                        .await();
                return in;
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("k"));
            await(inBody);
            run.kill("enough");
            assertThatThrownBy(run::result).hasMessage("Run 'k' is CANCELLED: enough");
            release.countDown();
            perdure.settle();
            assertThat(run.state()).isEqualTo(RunState.CANCELLED);
        }
    }
}
