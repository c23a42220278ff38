package dev.perdure.testing.scenarios;

import static dev.perdure.StartKey.deduplicate;
import static dev.perdure.StartOptions.id;
import static dev.perdure.StepOptions.retry;
import static dev.perdure.testing.scenarios.Log.log;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.ChildOptions;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.RetryPolicy;
import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.StepAction;
import dev.perdure.Topic;
import dev.perdure.TypeRef;
import dev.perdure.dag.Dag;
import dev.perdure.status.Finding;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every run that waits says for what. */
abstract class WaitReasonScenarios extends Scenarios {
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Topic<String> NEWS = Topic.of("news", String.class);

    private static RunInfo info(Perdure perdure, String run) {
        return perdure.run(RunId.of(run), TypeRef.of(Void.class)).info();
    }

    private static String told(Perdure perdure, String run) {
        RunInfo info = info(perdure, run);
        return info.state() + ": " + info.reason().orElse("no reason");
    }

    @ParameterizedTest
    @EnumSource
    void a_suspended_run_says_until_when_and_for_what_it_waits(TestMode mode) {
        Definition<String, String> sleeps = workflow("sleeps", (ctx, in) -> {
            ctx.sleep(HOUR);
            return in;
        });
        Definition<String, String> receives = workflow(
                "receives", (ctx, in) -> ctx.receive(NEWS).orTimeout(HOUR).await());
        Definition<String, String> calls = workflow(
                "calls",
                (ctx, in) -> ctx.startChild(Invocation.of(sleeps, in), ChildOptions.childId("child"))
                        .await());
        try (PerdureTest perdure = create(mode)) {
            perdure.register(sleeps, receives, calls);
            perdure.start(Invocation.of(sleeps, "x"), id("sleeps"));
            perdure.start(Invocation.of(sleeps, "x"), id("delayed").delay(HOUR.multipliedBy(2)));
            perdure.start(Invocation.of(receives, "x"), id("receives"));
            perdure.start(Invocation.of(calls, "x"), id("calls"));
            perdure.settle();
            perdure.advance(Duration.ofMinutes(1)); // longer than the warm window
            assertThat(told(perdure, "sleeps")).isEqualTo("SUSPENDED: Waits until 2030-01-01T01:00:00Z.");
            assertThat(told(perdure, "delayed")).isEqualTo("SUSPENDED: Waits until 2030-01-01T02:00:00Z.");
            assertThat(told(perdure, "receives"))
                    .isEqualTo("SUSPENDED: Waits for message 'news', until 2030-01-01T01:00:00Z at the latest.");
            assertThat(told(perdure, "calls")).isEqualTo("SUSPENDED: Waits for run 'child'.");
            perdure.advance(HOUR.multipliedBy(3));
            assertThat(told(perdure, "calls")).isEqualTo("COMPLETED: no reason");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_run_that_backs_off_says_what_failed_and_when_it_is_tried_again(TestMode mode) {
        Definition<String, String> flow = workflow("flow", (ctx, in) -> {
            ctx.step("first", () -> 1);
            ctx.step(
                    "charge",
                    (StepAction) () -> {
                        throw new IllegalStateException("no bank");
                    },
                    retry(RetryPolicy.standard()
                            .initialDelay(HOUR)
                            .maxDelay(HOUR)
                            .jitter(0)));
            return in;
        });
        try (PerdureTest perdure = create(mode)) {
            perdure.register(flow);
            perdure.start(Invocation.of(flow, "x"), id("f"));
            perdure.settle();
            assertThat(told(perdure, "f"))
                    .isEqualTo(
                            "BACKING_OFF: Attempt 1 of step 'charge' failed. The next attempt is at 2030-01-01T01:00:00Z.");
            perdure.advance(HOUR);
            assertThat(told(perdure, "f"))
                    .isEqualTo(
                            "BACKING_OFF: Attempt 2 of step 'charge' failed. The next attempt is at 2030-01-01T02:00:00Z.");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_call_says_which_run_holds_its_object_and_a_paused_one_becomes_a_finding(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(new Log());
            Run<String> first = log(perdure, "a").send(Log::sleepy, id("first"));
            perdure.settle();
            log(perdure, "a").send(Log::sleepy, id("second"));
            perdure.settle();
            assertThat(told(perdure, "second"))
                    .isEqualTo("PENDING: Run 'first' holds the object 'list' with the key 'a' and is SUSPENDED.");
            first.pause("to look at it");
            perdure.settle();
            assertThat(told(perdure, "second"))
                    .isEqualTo(
                            "PENDING: Run 'first' holds the object 'list' with the key 'a' and is PAUSED: to look at it");
            assertThat(stuck(perdure)).isEmpty();
            perdure.advance(Finding.PATIENCE);
            assertThat(stuck(perdure))
                    .containsExactly(
                            new Finding(
                                    Finding.Kind.PAUSED_CALL,
                                    "Calls of the object 'list' with the key 'a' wait for run 'first', which has been PAUSED since 2030-01-01T00:00:00Z: to look at it",
                                    "Fix what its reason says, then './perdure runs resume first'; or give it up: './perdure runs kill first'."));
            first.resume();
            perdure.settle();
            assertThat(stuck(perdure)).isEmpty();
        }
    }

    private static List<Finding> stuck(PerdureTest perdure) {
        return perdure.status().findings().stream()
                .filter(finding -> List.of(Finding.Kind.PAUSED_CALL, Finding.Kind.NOT_REGISTERED)
                        .contains(finding.kind()))
                .toList();
    }

    @ParameterizedTest
    @EnumSource
    void a_call_of_an_object_that_no_worker_has_registered_says_so_and_becomes_a_finding(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(workflow("other", (ctx, in) -> in));
            perdure.object(Log.class, "a").send(Log::sleepy, id("first"));
            perdure.advance(Duration.ofSeconds(1));
            perdure.object(Log.class, "a").send(Log::sleepy, id("second"));
            perdure.settle();
            assertThat(told(perdure, "first")).isEqualTo("READY: No live worker has the definition 'list/sleepy'.");
            assertThat(told(perdure, "second"))
                    .isEqualTo(
                            "PENDING: Run 'first' holds the object 'list' with the key 'a' and is READY: No live worker has the definition 'list/sleepy'.");
            assertThat(stuck(perdure)).isEmpty();
            perdure.advance(Finding.PATIENCE);
            assertThat(stuck(perdure))
                    .containsExactly(new Finding(
                            Finding.Kind.NOT_REGISTERED,
                            "No live worker has the definition 'list/sleepy'. Ready runs wait: 1, the oldest, 'first', since 2030-01-01T00:00:00Z.",
                            "Start a worker that registers it. If it was removed on purpose, cancel the runs."));
            perdure.start(
                    Invocation.of("other", "x", TypeRef.of(String.class)),
                    id("pinned").version("v9"));
            perdure.advance(Finding.PATIENCE);
            assertThat(stuck(perdure))
                    .extracting(Finding::what)
                    .anyMatch(
                            what -> what.startsWith(
                                    "No live worker has the definition 'other' in version 'v9'. Ready runs wait: 1, the oldest, 'pinned',"));
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_task_and_its_run_say_what_they_come_after(TestMode mode) {
        Dag<String, Integer> dag = Dag.of("wide", String.class, builder -> {
            var parts = List.of("a", "b", "c", "d", "e").stream()
                    .map(name -> builder.workflow(name, (ctx, t) -> {
                        ctx.sleep(name.equals("a") ? Duration.ofMinutes(1) : HOUR);
                        return 1;
                    }))
                    .toList();
            return builder.after(parts).task("sum", (t, all) -> all.size());
        });
        try (PerdureTest perdure = create(mode)) {
            perdure.register(dag);
            perdure.start(dag, "x", id("w"));
            perdure.settle();
            assertThat(told(perdure, "w/sum"))
                    .isEqualTo("PENDING: Waits for the end of 'w/a', 'w/b', 'w/c' and 2 more.");
            assertThat(told(perdure, "w")).isEqualTo("PENDING: Waits for the end of 'w/sum'.");
            perdure.advance(Duration.ofMinutes(2));
            assertThat(told(perdure, "w/sum"))
                    .isEqualTo("PENDING: Waits for the end of 'w/b', 'w/c', 'w/d' and 1 more.");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_run_that_replaces_another_says_which(TestMode mode) {
        Definition<String, String> flow = workflow("flow", (ctx, in) -> {
            try {
                ctx.sleep(HOUR);
            } finally {
                ctx.sleep(HOUR); // compensates for an hour
            }
            return in;
        });
        try (PerdureTest perdure = create(mode)) {
            perdure.register(flow);
            Run<String> first = perdure.start(Invocation.of(flow, "1"), under());
            perdure.settle();
            Run<String> second = perdure.start(Invocation.of(flow, "2"), under());
            perdure.settle();
            assertThat(first.state()).isEqualTo(RunState.SUSPENDED);
            assertThat(second.info().reason())
                    .isEqualTo(
                            Optional.of("Begins when run '%s', which it replaces, has ended.".formatted(first.id())));
            perdure.advance(HOUR);
            assertThat(second.state()).isEqualTo(RunState.SUSPENDED);
        }
    }

    private static StartOptions under() {
        return StartOptions.defaults().startKey(deduplicate("k").replace());
    }
}
