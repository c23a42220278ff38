package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.DurableFuture;
import dev.perdure.Invocation;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.Topic;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

abstract class EventScenarios extends Scenarios {
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Topic<String> PAID = Topic.of("paid", String.class);

    /** Waits for one event, with its input as the key if it has one. */
    private static final Definition<String, String> WAITING = workflow("waiting", (ctx, key) -> {
        String got = (key.isEmpty() ? ctx.event(PAID) : ctx.event(PAID.key(key))).await();
        ctx.step("got it", () -> {});
        return got;
    });

    @ParameterizedTest
    @EnumSource
    void an_event_reaches_all_runs_that_wait_for_it_then(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(WAITING);
            assertThat(perdure.emit(PAID, "nobody waits")).isZero();
            List<Run<String>> runs = perdure.startAll(
                    List.of("", "", "", ""),
                    in -> Invocation.of(WAITING, in),
                    in -> dev.perdure.StartOptions.defaults());
            perdure.settle();
            assertThat(runs).allMatch(run -> run.state() == RunState.SUSPENDED);
            assertThat(perdure.emit(PAID, "all")).isEqualTo(4);
            assertThat(runs.stream().map(Run::result)).containsOnly("all");
            assertThat(perdure.emit(PAID, "nobody waits any more")).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_key_narrows_which_runs_are_reached(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(WAITING);
            Run<String> seven = perdure.start(Invocation.of(WAITING, "7"), id("seven"));
            Run<String> eight = perdure.start(Invocation.of(WAITING, "8"), id("eight"));
            Run<String> any = perdure.start(Invocation.of(WAITING, ""), id("any"));
            perdure.settle();
            assertThat(perdure.emit(PAID.key("7"), "for seven")).isEqualTo(2);
            assertThat(seven.result()).isEqualTo("for seven");
            assertThat(any.result()).isEqualTo("for seven");
            assertThat(perdure.emit(PAID, "for those without a key")).isZero();
            assertThat(eight.state()).isEqualTo(RunState.SUSPENDED);
            assertThat(perdure.emit(PAID.key("8"), "for eight")).isEqualTo(1);
            assertThat(eight.result()).isEqualTo("for eight");
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_event_counts_from_when_it_was_asked_for_and_not_from_when_it_is_awaited(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("early", (ctx, in) -> {
                DurableFuture<String> first = ctx.event(PAID);
                DurableFuture<String> second = ctx.event(PAID);
                ctx.sleep(HOUR);
                String got = first.await() + " " + second.await();
                return got + " "
                        + ctx.event(PAID).orTimeout(HOUR).map(again -> again).await();
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            perdure.advance(Duration.ofMinutes(30));
            // The same event answers both calls.
            assertThat(perdure.emit(PAID, "once")).isEqualTo(2);
            assertThat(perdure.emit(PAID, "missed")).isZero();
            perdure.crash();
            perdure.advance(HOUR);
            assertThat(perdure.emit(PAID, "twice")).isEqualTo(1);
            assertThat(run.result()).isEqualTo("once once twice");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_run_emits_as_a_step(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<Integer> reached = new CopyOnWriteArrayList<>();
            Definition<String, String> emitting = workflow("emitting", (ctx, in) -> {
                int all = ctx.emit(PAID, "from a run");
                int keyed = ctx.emit(PAID.key("9"), "with a key");
                reached.add(all * 10 + keyed);
                ctx.sleep(HOUR);
                return all + " " + keyed;
            });
            perdure.register(WAITING, emitting);
            Run<String> one = perdure.start(Invocation.of(WAITING, ""), id("one"));
            Run<String> two = perdure.start(Invocation.of(WAITING, ""), id("two"));
            Run<String> nine = perdure.start(Invocation.of(WAITING, "9"), id("nine"));
            perdure.settle();
            Run<String> run = perdure.start(Invocation.of(emitting, "x"));
            perdure.advance(Duration.ofMinutes(1));
            perdure.crash();
            assertThat(run.result()).isEqualTo("2 1");
            assertThat(reached).hasSizeGreaterThanOrEqualTo(2).containsOnly(21);
            assertThat(one.result()).isEqualTo("from a run");
            assertThat(two.result()).isEqualTo("from a run");
            assertThat(nine.result()).isEqualTo("with a key");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_run_that_has_ended_or_given_up_is_reached_no_more(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("hurried", (ctx, in) -> {
                DurableFuture<String> event = ctx.event(PAID);
                int first = DurableFuture.any(event, ctx.timer(HOUR)).await();
                return first == 0 ? event.await() : "too late";
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            perdure.settle();
            assertThat(run.result()).isEqualTo("too late");
            assertThat(perdure.emit(PAID, "late")).isZero();
            Run<String> killed = perdure.start(Invocation.of(flow, "x"));
            perdure.settle();
            killed.kill("enough");
            perdure.settle();
            assertThat(perdure.emit(PAID, "late")).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource
    void many_events_reach_many_runs_each_its_own(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            perdure.register(WAITING);
            List<String> keys = IntStream.range(0, 100).mapToObj(i -> "k" + i).toList();
            List<Run<String>> runs =
                    perdure.startAll(keys, key -> Invocation.of(WAITING, key), key -> id("run-" + key));
            perdure.settle();
            keys.forEach(
                    key -> assertThat(perdure.emit(PAID.key(key), "for " + key)).isEqualTo(1));
            for (int i = 0; i < keys.size(); i++) {
                assertThat(runs.get(i).result()).isEqualTo("for " + keys.get(i));
            }
        }
    }
}
