package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Child;
import dev.perdure.ChildOptions;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.Topic;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.RunFailedException;
import dev.perdure.error.UnknownQueueException;
import dev.perdure.queue.Queue;
import dev.perdure.queue.Queues;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

abstract class QueueScenarios extends Scenarios {
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Topic<String> GO = Topic.of("go", String.class);

    /** How many step bodies are at work at once, and how many were at most. */
    private static final class Gauge {
        private final AtomicInteger now = new AtomicInteger();
        private final AtomicInteger most = new AtomicInteger();

        String in(String input) {
            most.accumulateAndGet(now.incrementAndGet(), Math::max);
            Thread.yield();
            now.decrementAndGet();
            return input;
        }
    }

    private static Queue imports() {
        return Queue.named("imports");
    }

    private static StartOptions in(String id) {
        return id(id).queue("imports");
    }

    private static List<Run<String>> startAll(PerdureTest perdure, Definition<String, String> workflow, int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> perdure.start(Invocation.of(workflow, "r" + i), in("r" + i)))
                .toList();
    }

    private static long in(List<Run<String>> runs, RunState state) {
        return runs.stream().filter(run -> run.state() == state).count();
    }

    @ParameterizedTest
    @EnumSource
    void no_more_run_at_once_than_the_queue_allows(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Gauge gauge = new Gauge();
            Definition<String, String> load = workflow("load", (ctx, in) -> ctx.step("load", () -> gauge.in(in)));
            perdure.register(load).queues(imports().concurrency(2));
            List<Run<String>> runs = startAll(perdure, load, 12);

            runs.forEach(run -> assertThat(run.result()).isEqualTo(run.id().value()));
            assertThat(gauge.most.get()).isBetween(1, 2);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_run_that_sleeps_keeps_its_place(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> sleeper = workflow("sleeper", (ctx, in) -> {
                ctx.sleep(HOUR);
                return in;
            });
            perdure.register(sleeper).queues(imports().concurrency(2));
            List<Run<String>> runs = startAll(perdure, sleeper, 5);
            perdure.settle();
            assertThat(in(runs, RunState.SUSPENDED)).isEqualTo(2);
            assertThat(in(runs, RunState.READY)).isEqualTo(3);
            perdure.advance(HOUR.plusSeconds(5));
            assertThat(in(runs, RunState.COMPLETED)).isEqualTo(2);
            assertThat(in(runs, RunState.SUSPENDED)).isEqualTo(2);
            perdure.advance(HOUR.multipliedBy(3));
            assertThat(in(runs, RunState.COMPLETED)).isEqualTo(5);
        }
    }

    @ParameterizedTest
    @EnumSource
    void where_only_work_counts_all_sleep_at_the_same_time(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Gauge gauge = new Gauge();
            Definition<String, String> sleeper = workflow("sleeper", (ctx, in) -> {
                ctx.sleep(HOUR);
                return ctx.step("work", () -> gauge.in(in));
            });
            perdure.register(sleeper).queues(imports().concurrency(1).counting(Queue.Counting.AT_WORK));
            List<Run<String>> runs = startAll(perdure, sleeper, 5);
            perdure.advance(Duration.ofSeconds(10));
            assertThat(in(runs, RunState.SUSPENDED)).isEqualTo(5);
            perdure.advance(HOUR.plusSeconds(10));
            assertThat(in(runs, RunState.COMPLETED)).isEqualTo(5);
            assertThat(gauge.most).hasValue(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_key_has_its_own_limit_and_does_not_delay_the_others(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<String> begun = new CopyOnWriteArrayList<>();
            Definition<String, String> waiting = workflow("waiting", (ctx, in) -> {
                ctx.step("begin", () -> begun.add(in));
                return ctx.receive(GO).await();
            });
            perdure.register(waiting).queues(imports().perKey(1));
            for (int i = 0; i < 10; i++) {
                perdure.start(Invocation.of(waiting, "big" + i), in("big/" + i).key("big"));
            }
            perdure.start(Invocation.of(waiting, "small"), in("small/1").key("small"));
            perdure.start(Invocation.of(waiting, "free"), in("free"));
            perdure.settle();
            assertThat(begun).containsExactlyInAnyOrder("big0", "small", "free");
            perdure.send(RunId.of("big/0"), GO, "on");
            perdure.advance(Duration.ofSeconds(5));
            assertThat(begun).containsExactlyInAnyOrder("big0", "small", "free", "big1");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_place_comes_back_whichever_way_a_run_ends(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> work = workflow("work", (ctx, in) -> {
                if (in.equals("fails")) {
                    throw new IllegalStateException("broken");
                }
                return in.equals("ends") ? in : ctx.receive(GO).await();
            });
            perdure.register(work).queues(imports().concurrency(1));
            Run<String> ends = perdure.start(Invocation.of(work, "ends"), in("ends"));
            Run<String> fails = perdure.start(Invocation.of(work, "fails"), in("fails"));
            Run<String> cancelled = perdure.start(Invocation.of(work, "cancelled"), in("cancelled"));
            Run<String> killed = perdure.start(Invocation.of(work, "killed"), in("killed"));
            Run<String> timesOut = perdure.start(
                    Invocation.of(work, "timesOut"), in("timesOut").timeout(HOUR.multipliedBy(10)));
            Run<String> paused = perdure.start(Invocation.of(work, "paused"), in("paused"));
            Run<String> last = perdure.start(Invocation.of(work, "ends"), in("last"));

            assertThat(ends.result()).isEqualTo("ends");
            assertThatThrownBy(fails::result).isInstanceOf(RunFailedException.class);
            perdure.advance(Duration.ofSeconds(5));
            cancelled.cancel("no longer needed");
            perdure.advance(Duration.ofSeconds(5));
            assertThat(cancelled.state()).isEqualTo(RunState.CANCELLED);
            killed.kill("stop");
            perdure.advance(Duration.ofSeconds(5));
            assertThat(killed.state()).isEqualTo(RunState.CANCELLED);
            perdure.advance(HOUR.multipliedBy(11));
            assertThat(timesOut.state()).isEqualTo(RunState.FAILED);
            assertThat(paused.state()).isEqualTo(RunState.SUSPENDED);
            paused.pause("later");
            assertThat(last.result()).isEqualTo("ends");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_crash_neither_loses_a_place_nor_makes_one(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Gauge gauge = new Gauge();
            Definition<String, String> load = workflow("load", (ctx, in) -> {
                ctx.step("one", () -> gauge.in(in));
                ctx.sleep(Duration.ofSeconds(20));
                return ctx.step("two", () -> gauge.in(in));
            });
            perdure.register(load).queues(imports().concurrency(3).perWorker(3));
            List<Run<String>> runs = startAll(perdure, load, 9);
            perdure.settle();
            perdure.crash();
            perdure.advance(Duration.ofSeconds(10));
            perdure.crashAfterNextCommit();
            perdure.advance(Duration.ofSeconds(30));
            perdure.loseNextClaim();
            runs.forEach(run -> assertThat(run.result()).isEqualTo(run.id().value()));
            assertThat(gauge.most.get()).isBetween(1, 3);
            assertThat(perdure.queues().get("imports").load().begun()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource
    void nothing_begins_in_a_paused_queue_and_what_is_changed_holds_at_once(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> waiting =
                    workflow("waiting", (ctx, in) -> ctx.receive(GO).await());
            perdure.register(waiting).queues(imports().concurrency(1));
            Queues queues = perdure.queues();
            queues.pause("imports", "the API is down");
            List<Run<String>> runs = startAll(perdure, waiting, 4);
            perdure.advance(Duration.ofSeconds(5));
            assertThat(in(runs, RunState.READY)).isEqualTo(4);
            queues.resume("imports");
            perdure.advance(Duration.ofSeconds(5));
            assertThat(in(runs, RunState.READY)).isEqualTo(3);
            queues.limit(imports().concurrency(3));
            perdure.advance(Duration.ofSeconds(5));
            assertThat(in(runs, RunState.READY)).isEqualTo(1);
            queues.reset("imports");
            assertThat(queues.get("imports").limits()).isEqualTo(imports().concurrency(1));
            perdure.advance(Duration.ofSeconds(5));
            assertThat(in(runs, RunState.READY)).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_operators_change_survives_a_deployment(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> waiting =
                    workflow("waiting", (ctx, in) -> ctx.receive(GO).await());
            perdure.register(waiting).queues(imports().concurrency(1));
            perdure.queues().limit(imports().concurrency(2));
            perdure.deploy(waiting);
            List<Run<String>> runs = startAll(perdure, waiting, 4);
            perdure.advance(Duration.ofSeconds(5));
            assertThat(in(runs, RunState.READY)).isEqualTo(2);
            assertThat(perdure.queues().get("imports").declared())
                    .isEqualTo(imports().concurrency(1));
        }
    }

    @ParameterizedTest
    @EnumSource
    void children_obey_the_limits_of_their_queue(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Gauge gauge = new Gauge();
            Definition<String, String> child = workflow("child", (ctx, in) -> ctx.step("work", () -> gauge.in(in)));
            Definition<String, String> parent = workflow("parent", (ctx, in) -> {
                List<Child<String>> children = new ArrayList<>();
                for (int i = 0; i < 4; i++) {
                    children.add(ctx.startChild(
                            Invocation.of(child, in + i),
                            ChildOptions.defaults().queue("imports").key("k" + i % 2)));
                }
                StringBuilder all = new StringBuilder();
                children.forEach(each -> all.append(each.await()));
                return all.toString();
            });
            perdure.register(parent, child).queues(imports().concurrency(2).perKey(1));
            assertThat(perdure.start(Invocation.of(parent, "c"), id("p")).result())
                    .isEqualTo("c0c1c2c3");
            assertThat(gauge.most.get()).isBetween(1, 2);
        }
    }

    @ParameterizedTest
    @EnumSource
    void no_more_begin_in_any_second_than_the_rate_allows(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            List<Instant> begun = new CopyOnWriteArrayList<>();
            Definition<String, String> call = workflow("call", (ctx, in) -> {
                ctx.step("call", () -> begun.add(perdure.now()));
                return in;
            });
            perdure.register(call).queues(imports().rate(3, Duration.ofSeconds(1)));
            List<Run<String>> runs = startAll(perdure, call, 12);
            perdure.advance(Duration.ofSeconds(30));

            assertThat(in(runs, RunState.COMPLETED)).isEqualTo(12);
            List<Instant> times = begun.stream().sorted().toList();
            for (int i = 3; i < times.size(); i++) {
                assertThat(Duration.between(times.get(i - 3), times.get(i)))
                        .isGreaterThanOrEqualTo(Duration.ofSeconds(1));
            }
        }
    }

    @Test
    void a_run_that_weighs_more_than_a_burst_is_refused_because_it_would_exceed_the_rate() {
        try (PerdureTest perdure = create(TestMode.NORMAL)) {
            Definition<String, String> call = workflow("call", (ctx, in) -> in);
            Queue limits = imports().rate(100, Duration.ofMinutes(1)).burst(10);
            perdure.register(call)
                    .queues(limits.ratePerKey(20, Duration.ofMinutes(1)).burstPerKey(5));
            assertThatThrownBy(() -> perdure.start(Invocation.of(call, "x"), in("x").weight(11)))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("allows at most 10 at once");
            assertThatThrownBy(() -> perdure.start(
                            Invocation.of(call, "x"), in("x").key("k").weight(6)))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("allows at most 5 at once");
            assertThat(perdure.start(Invocation.of(call, "x"), in("x").weight(10))
                            .result())
                    .isEqualTo("x");
        }
    }

    @Test
    void a_run_that_weighs_more_than_the_rate_can_ever_give_is_refused_at_the_start() {
        try (PerdureTest perdure = create(TestMode.NORMAL)) {
            Definition<String, String> call = workflow("call", (ctx, in) -> in);
            perdure.register(call)
                    .queues(imports().rate(5, Duration.ofSeconds(1)).ratePerKey(2, Duration.ofSeconds(1)));
            assertThatThrownBy(() -> perdure.start(Invocation.of(call, "x"), in("x").weight(6)))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessage(
                            "The run weighs 6, but the rate of the queue 'imports' allows at most 5 at once. Give the run less weight, or the queue a higher rate or burst.");
            assertThatThrownBy(() -> perdure.start(
                            Invocation.of(call, "x"), in("x").key("k").weight(3)))
                    .isInstanceOf(InvalidRequestException.class);
            assertThat(perdure.start(Invocation.of(call, "x"), in("x").weight(5))
                            .result())
                    .isEqualTo("x");
            assertThatThrownBy(() -> in("x").weight(0)).isInstanceOf(InvalidRequestException.class);
            assertThatThrownBy(() -> imports().rate(0, Duration.ofSeconds(1)))
                    .isInstanceOf(InvalidRequestException.class);
            assertThatThrownBy(() -> imports().rate(1, Duration.ZERO))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessage(
                            "The period of the rate of the queue 'imports' is PT0S; it is at least a millisecond and at most 366 days.");
        }
    }

    @Test
    void bad_input_is_refused_with_a_message_that_helps() {
        try (PerdureTest perdure = create(TestMode.NORMAL)) {
            assertThatThrownBy(() -> imports().concurrency(0))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessage(
                            "concurrency of the queue 'imports' is 0; it is at least 1. To let nothing begin, pause the queue.");
            assertThatThrownBy(() -> imports().perKey(-1)).isInstanceOf(InvalidRequestException.class);
            assertThatThrownBy(() -> StartOptions.defaults().key("")).isInstanceOf(InvalidRequestException.class);
            assertThatThrownBy(() -> perdure.queues().pause("nowhere", "x"))
                    .isInstanceOf(UnknownQueueException.class)
                    .hasMessage(
                            "There is no queue 'nowhere' with limits. Check the name, or declare the queue when you set up the engine.");
            assertThatThrownBy(() -> perdure.queues().get("nowhere")).isInstanceOf(UnknownQueueException.class);
        }
    }
}
