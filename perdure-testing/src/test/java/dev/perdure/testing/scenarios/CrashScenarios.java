package dev.perdure.testing.scenarios;

import static dev.perdure.ChildOptions.childId;
import static dev.perdure.StartOptions.id;
import static dev.perdure.StepOptions.retry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Awakeable;
import dev.perdure.Child;
import dev.perdure.Definition;
import dev.perdure.DurableFuture;
import dev.perdure.HistoryEvent;
import dev.perdure.Invocation;
import dev.perdure.RetryPolicy;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.Topic;
import dev.perdure.error.CancelledException;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Kills the worker just before or just after each commit of a run that uses all features. */
abstract class CrashScenarios extends Scenarios {
    private static final int COMMITS = 12;
    private static final Duration HOUR = Duration.ofHours(1);

    static Stream<Arguments> everyCommitInEveryMode() {
        return Stream.of(TestMode.values())
                .flatMap(mode -> IntStream.range(0, COMMITS)
                        .boxed()
                        .flatMap(commit -> Stream.of(true, false).map(before -> Arguments.of(mode, commit, before))));
    }

    private static Definition<String, String> everything(Map<String, Integer> bodies) {
        return workflow("everything", (ctx, in) -> {
            String begun = ctx.now().toString();
            ctx.step("first", () -> bodies.merge("first", 1, Integer::sum));
            String tried = ctx.step(
                    "flaky",
                    () -> {
                        bodies.merge("flaky", 1, Integer::sum);
                        if (ctx.attempt().number() < 3) {
                            throw new IllegalStateException(
                                    "attempt " + ctx.attempt().number());
                        }
                        return "attempt " + ctx.attempt().number();
                    },
                    retry(RetryPolicy.standard()
                            .initialDelay(HOUR)
                            .factor(1)
                            .maxDelay(HOUR)
                            .jitter(0)));
            boolean patched = ctx.patched("p");
            ctx.sleep(HOUR);
            try {
                ctx.sleep(Duration.ofDays(100));
                return "not cancelled";
            } catch (CancelledException cancelled) {
                ctx.step("undo", () -> bodies.merge("undo", 1, Integer::sum));
                if (in.equals("cancel")) {
                    throw cancelled;
                }
                return begun + " " + tried + " " + patched + " " + cancelled.getMessage();
            }
        });
    }

    @ParameterizedTest
    @MethodSource("everyCommitInEveryMode")
    void a_crash_at_any_commit_loses_and_repeats_nothing(TestMode mode, int commit, boolean before) {
        try (PerdureTest perdure = create(mode)) {
            Map<String, Integer> bodies = new ConcurrentHashMap<>();
            Definition<String, String> flow = everything(bodies);
            perdure.register(flow);
            crashAt(perdure, commit, before);
            Run<String> run = perdure.start(Invocation.of(flow, "complete"), id("run"));
            perdure.advance(Duration.ofHours(4));
            run.cancel("stop");
            assertThat(run.result()).isEqualTo("2030-01-01T00:00:00Z attempt 3 true stop");
            assertThat(run.state()).isEqualTo(RunState.COMPLETED);
            // At most one body runs twice: the one whose result the worker had not recorded when it died. In one mode a
            // worker releases the run after every step, and may have taken it again before it dies.
            boolean again = before || mode == TestMode.REPLAY_AFTER_EVERY_STEP;
            assertThat(bodies.get("first")).isBetween(1, again ? 2 : 1);
            assertThat(bodies.get("flaky")).isBetween(3, again ? 4 : 3);
            assertThat(bodies.get("undo")).isBetween(1, again ? 2 : 1);
            assertThat(bodies.values().stream().mapToInt(Integer::intValue).sum())
                    .isBetween(5, again ? 6 : 5);
            assertThat(journal(run))
                    .containsExactly(
                            "time read",
                            "step 'first' completed",
                            "attempt 1 of step 'flaky' failed: java.lang.IllegalStateException: attempt 1",
                            "attempt 2 of step 'flaky' failed: java.lang.IllegalStateException: attempt 2",
                            "step 'flaky' completed at attempt 3",
                            "patch 'p' applies",
                            "sleep of PT1H began",
                            "sleep of PT2400H began",
                            "sleep of PT2400H ended, because the run was cancelled",
                            "step 'undo' completed");
        }
    }

    @ParameterizedTest
    @MethodSource("everyCommitInEveryMode")
    void a_crash_at_any_commit_of_a_cancelled_run_ends_it_cancelled(TestMode mode, int commit, boolean before) {
        try (PerdureTest perdure = create(mode)) {
            Map<String, Integer> bodies = new ConcurrentHashMap<>();
            Definition<String, String> flow = everything(bodies);
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "cancel"), id("run"));
            perdure.settle();
            crashAt(perdure, commit % 5, before);
            run.cancel("early");
            assertThatThrownBy(run::result).hasMessageContaining("early");
            assertThat(run.state()).isIn(RunState.CANCELLED, RunState.FAILED);
            assertThat(bodies).doesNotContainKey("undo").containsEntry("flaky", 1);
        }
    }

    private static final Topic<String> NEWS = Topic.of("news", String.class);
    private static final Topic<String> GO = Topic.of("go", String.class);
    private static final int TALKING_COMMITS = 26;

    static Stream<Arguments> everyCommitOfTheTalkInEveryMode() {
        return Stream.of(TestMode.values())
                .flatMap(mode -> IntStream.range(0, TALKING_COMMITS)
                        .boxed()
                        .flatMap(commit -> Stream.of(true, false).map(before -> Arguments.of(mode, commit, before))));
    }

    /** Collects messages until one tells it to end. */
    private static final Definition<String, String> PEER = workflow("peer", (ctx, in) -> {
        List<String> got = new ArrayList<>();
        do {
            got.add(ctx.receive(NEWS).await());
        } while (!got.getLast().equals("end"));
        return got + " " + ctx.promise(GO).await();
    });

    private static final Definition<String, String> CHILD = workflow("child", (ctx, in) -> {
        ctx.sleep(HOUR);
        return ctx.step("work", () -> "worked on " + in);
    });

    private static Definition<String, String> talking(Set<String> tokens) {
        return workflow("talking", (ctx, in) -> {
            List<String> beside = DurableFuture.all(
                            List.of(ctx.stepAsync("a", () -> "A"), ctx.stepAsync("b", () -> "B")))
                    .await();
            Child<String> child = ctx.startChild(Invocation.of(CHILD, "parcel"), childId("c"));
            ctx.send(RunId.of("peer"), NEWS, "hello");
            ctx.publish(NEWS, "one");
            String message = ctx.receive(NEWS).await();
            Awakeable<String> awakeable = ctx.awakeable(String.class);
            ctx.step("hand out", () -> tokens.add(awakeable.token()));
            int first = DurableFuture.any(awakeable, ctx.promise(GO)).await();
            String both = ctx.promise(GO).await() + " " + awakeable.await();
            ctx.promise(RunId.of("peer"), GO).resolve("resolved");
            ctx.publish(NEWS, "two");
            String worked = child.await();
            ctx.send(RunId.of("peer"), NEWS, "end");
            ctx.publish(NEWS, "three");
            return String.join(" ", beside) + ", " + message + ", " + first + " " + both + ", " + worked;
        });
    }

    @ParameterizedTest
    @MethodSource("everyCommitOfTheTalkInEveryMode")
    void a_crash_at_any_commit_lets_everything_arrive_once(TestMode mode, int commit, boolean before) {
        try (PerdureTest perdure = create(mode)) {
            Set<String> tokens = ConcurrentHashMap.newKeySet();
            Definition<String, String> talking = talking(tokens);
            perdure.register(talking, PEER, CHILD);
            crashAt(perdure, commit, before);
            Run<String> peer = perdure.start(Invocation.of(PEER, "x"), id("peer"));
            Run<String> run = perdure.start(
                    Invocation.of(talking, "x"),
                    id("run").message(NEWS, "first").message(NEWS, "left over"));
            perdure.settle();
            run.promise(GO).resolve("gone");
            perdure.settle();
            assertThat(tokens).hasSize(1);
            perdure.resolve(tokens.iterator().next(), "woken");
            assertThat(run.result()).isEqualTo("A B, first, 1 gone woken, worked on parcel");
            assertThat(peer.result()).isEqualTo("[hello, end] resolved");
            List<String> published = new ArrayList<>();
            run.follow(NEWS, 0).forEachRemaining(each -> published.add(each.value()));
            assertThat(published).containsExactly("one", "two", "three");
            assertThat(perdure.runs(RunFilter.all()).list()).hasSize(3);
        }
    }

    private static List<String> journal(Run<?> run) {
        return run.history().stream()
                .filter(event -> event.position() > 0)
                .sorted(java.util.Comparator.comparingInt(HistoryEvent::position))
                .map(HistoryEvent::text)
                .toList();
    }

    private static void crashAt(PerdureTest perdure, int commit, boolean before) {
        if (before) {
            perdure.crashBeforeCommit(commit);
        } else {
            perdure.crashAfterCommit(commit);
        }
    }
}
