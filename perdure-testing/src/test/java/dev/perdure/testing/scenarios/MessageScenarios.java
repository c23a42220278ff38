package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.DurableFuture;
import dev.perdure.Invocation;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.Topic;
import dev.perdure.TypeRef;
import dev.perdure.error.RunEndedException;
import dev.perdure.error.UnknownRunException;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

abstract class MessageScenarios extends Scenarios {
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Topic<String> NEWS = Topic.of("news", String.class);
    private static final Topic<String> GOSSIP = Topic.of("gossip", String.class);

    /** Receives this many messages and returns them. */
    private static Definition<Integer, String> reader() {
        return Definition.of("reader", Integer.class, String.class, (ctx, count) -> {
            List<String> read = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                read.add(ctx.receive(NEWS).await());
                ctx.step("read", () -> {});
            }
            return String.join(" ", read);
        });
    }

    @ParameterizedTest
    @EnumSource
    void messages_arrive_in_order_whenever_they_are_sent(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<Integer, String> reader = reader();
            perdure.register(reader);
            // With the start, before it first runs, ...
            Run<String> run = perdure.start(
                    Invocation.of(reader, 9),
                    id("r").delay(HOUR).message(NEWS, "1").message(NEWS, "2"));
            run.send(NEWS, "3");
            perdure.advance(HOUR);
            // ... while it waits, ...
            perdure.send(run.id(), NEWS, "4");
            perdure.settle();
            assertThat(run.state()).isEqualTo(RunState.SUSPENDED);
            perdure.crashAll();
            // ... while no worker is up, ...
            List.of("5", "6", "7").forEach(each -> run.send(NEWS, each));
            perdure.startWorker();
            perdure.settle();
            perdure.crash();
            // ... and two at once.
            run.send(NEWS, "8");
            run.send(NEWS, "9");
            assertThat(run.result()).isEqualTo("1 2 3 4 5 6 7 8 9");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_message_of_a_start_that_attaches_is_not_sent_again(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<Integer, String> reader = reader();
            perdure.register(reader);
            perdure.start(Invocation.of(reader, 2), id("r").message(NEWS, "first"));
            Run<String> same = perdure.start(Invocation.of(reader, 2), id("r").message(NEWS, "first"));
            perdure.settle();
            assertThat(same.state()).isEqualTo(RunState.SUSPENDED);
            same.send(NEWS, "second");
            assertThat(same.result()).isEqualTo("first second");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_receive_that_times_out_says_so_the_same_on_replay(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("impatient", (ctx, in) -> {
                String first = ctx.receive(NEWS).await(HOUR).orElse("nothing");
                String second = ctx.receive(NEWS).await(HOUR.multipliedBy(5)).orElse("nothing");
                ctx.sleep(HOUR);
                return first + ", " + second + ", " + ctx.now();
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            perdure.advance(HOUR);
            run.send(NEWS, "late");
            perdure.settle();
            perdure.crash();
            assertThat(run.result()).isEqualTo("nothing, late, 2030-01-01T02:00:00Z");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_message_that_is_there_when_the_time_is_over_is_taken(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("both", (ctx, in) -> {
                String first = ctx.receive(NEWS).await(HOUR).orElse("nothing");
                String second = ctx.receive(NEWS).await(Duration.ZERO).orElse("nothing");
                String third = ctx.receive(NEWS).await(Duration.ZERO).orElse("nothing");
                ctx.step("between", () -> {});
                return first + " " + second + " " + third;
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            perdure.settle();
            perdure.crashAll();
            perdure.advance(HOUR);
            run.send(NEWS, "one");
            run.send(NEWS, "two");
            perdure.startWorker();
            assertThat(run.result()).isEqualTo("one two nothing");
        }
    }

    @ParameterizedTest
    @EnumSource
    void each_topic_has_a_queue_of_its_own_and_the_loser_takes_nothing(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("two topics", (ctx, in) -> {
                DurableFuture<String> news = ctx.receive(NEWS);
                DurableFuture<String> gossip = ctx.receive(GOSSIP);
                String first = DurableFuture.race(List.of(news, gossip)).await();
                ctx.sleep(HOUR);
                // The receive that lost the race is abandoned. Another receive gets its message.
                return first + " " + ctx.receive(NEWS).await() + " "
                        + ctx.receive(GOSSIP).await();
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            perdure.settle();
            run.send(GOSSIP, "g1");
            perdure.settle();
            run.send(NEWS, "n1");
            run.send(GOSSIP, "g2");
            perdure.crash();
            assertThat(run.result()).isEqualTo("g1 n1 g2");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_message_goes_to_the_receive_that_is_awaited_first(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("reverse", (ctx, in) -> {
                DurableFuture<String> one = ctx.receive(NEWS);
                DurableFuture<String> two = ctx.receive(NEWS);
                String late = two.await();
                ctx.step("between", () -> {});
                return late + " " + one.await() + " "
                        + DurableFuture.all(List.of(ctx.receive(NEWS), ctx.receive(NEWS)))
                                .await();
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            List.of("a", "b", "c", "d").forEach(each -> run.send(NEWS, each));
            assertThat(run.result()).isEqualTo("a b [c, d]");
        }
    }

    public record Line(String item, int count) {}

    @ParameterizedTest
    @EnumSource
    void a_topic_carries_whatever_its_type_says(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Topic<List<Line>> lines = Topic.of("lines", new TypeRef<List<Line>>() {});
            Topic<String> odd = Topic.of("odd", String.class);
            Definition<String, String> flow = workflow("typed", (ctx, in) -> {
                List<Line> order = ctx.receive(lines).await();
                String empty = ctx.receive(odd).await();
                String text = ctx.receive(odd).await();
                ctx.step("between", () -> {});
                return order.get(1).item() + order.get(1).count() + empty + text;
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            run.send(lines, List.of(new Line("book", 1), new Line("pen", 2)));
            run.send(odd, null);
            run.send(odd, "\u0000 \uD800 😀");
            assertThat(run.result()).isEqualTo("pen2null\u0000 \uD800 😀");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_message_of_another_type_than_its_receiver_reads_pauses_the_run(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Topic<Line> asLine = Topic.of("news", Line.class);
            Definition<String, String> flow =
                    workflow("strict", (ctx, in) -> "" + ctx.receive(asLine).await());
            Definition<String, String> lenient =
                    workflow("strict", (ctx, in) -> ctx.receive(NEWS).await());
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("strict"));
            run.send(NEWS, "text");
            perdure.settle();
            assertThat(run.state()).isEqualTo(RunState.PAUSED);
            assertThat(run.info().reason().orElseThrow())
                    .contains("receive on topic 'news'", "cannot be read", Line.class.getName(), "then resume the run");
            perdure.deploy(lenient);
            run.resume();
            assertThat(run.result()).isEqualTo("text");
        }
    }

    @ParameterizedTest
    @EnumSource
    void runs_send_to_runs_and_to_themselves(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<Integer, String> reader = reader();
            Definition<String, String> sender = workflow("sender", (ctx, in) -> {
                ctx.send(RunId.of(in), NEWS, "one");
                ctx.send(ctx.runId(), GOSSIP, "to myself");
                ctx.step("between", () -> {});
                ctx.send(RunId.of(in), NEWS, "two");
                // The run does not exist, so the message is dropped.
                ctx.send(RunId.of("nobody"), NEWS, "lost");
                return ctx.receive(GOSSIP).await();
            });
            perdure.register(reader, sender);
            Run<String> run = perdure.start(Invocation.of(reader, 2), id("r"));
            assertThat(perdure.start(Invocation.of(sender, "r")).result()).isEqualTo("to myself");
            assertThat(run.result()).isEqualTo("one two");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_message_from_a_run_to_one_that_has_ended_is_dropped_and_a_step_gets_to_know_it(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<Integer, String> reader = reader();
            Definition<String, String> sender = workflow("sender", (ctx, to) -> {
                ctx.send(RunId.of(to), NEWS, "dropped");
                ctx.promise(RunId.of(to), GOSSIP).resolve("dropped too");
                return ctx.step("tell", () -> {
                    try {
                        perdure.send(RunId.of(to), NEWS, "refused");
                        return "it got it";
                    } catch (RunEndedException | UnknownRunException gone) {
                        return gone.getClass().getSimpleName();
                    }
                });
            });
            perdure.register(reader, sender);
            Run<String> ended = perdure.start(Invocation.of(reader, 0), id("ended"));
            ended.result();
            assertThat(perdure.start(Invocation.of(sender, "ended")).result()).isEqualTo("RunEndedException");
            assertThat(perdure.start(Invocation.of(sender, "nobody")).result()).isEqualTo("UnknownRunException");
            assertThat(ended.promise(GOSSIP).peek()).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_ping_pong_between_two_runs_loses_and_doubles_nothing(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            int rounds = mode == TestMode.NORMAL ? 500 : 50;
            Topic<Integer> ball = Topic.of("ball", Integer.class);
            Definition<String, Integer> player = Definition.of("player", String.class, Integer.class, (ctx, other) -> {
                int next = 0;
                while (next < rounds * 2 - 2) {
                    next = ctx.receive(ball).await();
                    ctx.send(RunId.of(other), ball, next + 1);
                }
                return next;
            });
            perdure.register(player);
            Run<Integer> ping = perdure.start(Invocation.of(player, "pong"), id("ping"));
            Run<Integer> pong = perdure.start(Invocation.of(player, "ping"), id("pong"));
            ping.send(ball, 0);
            assertThat(ping.result()).isEqualTo(rounds * 2 - 2);
            assertThat(pong.result()).isEqualTo(rounds * 2 - 1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_bulk_goes_to_all_it_can_reach_and_then_names_the_first_it_could_not(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<Integer, String> reader = reader();
            perdure.register(reader);
            Run<String> ended = perdure.start(Invocation.of(reader, 0), id("ended"));
            ended.result();
            Run<String> one = perdure.start(Invocation.of(reader, 1), id("one"));
            Run<String> two = perdure.start(Invocation.of(reader, 1), id("two"));
            List<RunId> all = List.of(one.id(), RunId.of("nobody"), ended.id(), two.id());
            assertThatThrownBy(() -> perdure.sendAll(all, NEWS, to -> "for " + to))
                    .isInstanceOf(UnknownRunException.class)
                    .hasMessageContaining("There is no run 'nobody'.");
            assertThat(one.result()).isEqualTo("for one");
            assertThat(two.result()).isEqualTo("for two");
            assertThatThrownBy(() -> perdure.sendAll(List.of(ended.id()), NEWS, to -> "late"))
                    .isInstanceOf(RunEndedException.class);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_thousand_messages_from_one_sender_arrive_in_order(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            int count = mode == TestMode.REPLAY_AFTER_EVERY_STEP ? 50 : 1_000;
            Topic<Integer> numbers = Topic.of("numbers", Integer.class);
            Definition<String, String> flow = workflow("counter", (ctx, in) -> {
                for (int i = 0; i < count; i++) {
                    int next = ctx.receive(numbers).await();
                    if (next != i) {
                        return "got %d instead of %d".formatted(next, i);
                    }
                }
                return "in order";
            });
            Definition<String, String> sender = workflow("sender", (ctx, in) -> {
                IntStream.range(0, count).forEach(i -> ctx.send(RunId.of(in), numbers, i));
                return in;
            });
            perdure.register(flow, sender);
            Run<String> run = perdure.start(Invocation.of(flow, "x"), id("counter"));
            perdure.start(Invocation.of(sender, "counter")).result();
            assertThat(run.result()).isEqualTo("in order");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_message_for_a_paused_run_waits_until_it_is_resumed(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<Integer, String> reader = reader();
            perdure.register(reader);
            Run<String> run = perdure.start(Invocation.of(reader, 2));
            perdure.settle();
            run.pause("not now");
            perdure.settle();
            run.send(NEWS, "one");
            run.send(NEWS, "two");
            perdure.settle();
            assertThat(run.state()).isEqualTo(RunState.PAUSED);
            run.resume();
            assertThat(run.result()).isEqualTo("one two");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_message_that_is_null_is_a_message(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow(
                    "null",
                    (ctx, in) -> ctx.receive(NEWS).await(HOUR) + " "
                            + ctx.receive(NEWS).await());
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, "x"));
            run.send(NEWS, null);
            run.send(NEWS, null);
            assertThat(run.result()).isEqualTo("Optional.empty null");
            assertThat(perdure.now()).isEqualTo("2030-01-01T00:00:00Z");
        }
    }

    @Test
    void two_thousand_waiters_hold_nothing_and_are_all_reached_by_one_call() {
        try (PerdureTest perdure = create(TestMode.NORMAL)) {
            AtomicInteger entered = new AtomicInteger();
            Definition<Integer, Integer> waiter = Definition.of("waiter", Integer.class, Integer.class, (ctx, in) -> {
                entered.incrementAndGet();
                return Integer.parseInt(
                        in % 2 == 0
                                ? ctx.receive(NEWS).await()
                                : ctx.promise(NEWS).await());
            });
            perdure.register(waiter);
            List<Run<Integer>> runs = perdure.startAll(
                    IntStream.range(0, 2_000).boxed().toList(), in -> Invocation.of(waiter, in), in -> id("w" + in));
            perdure.settle();
            int idle = perdure.clockwork().threads();
            assertThat(perdure.runs(RunFilter.all().state(RunState.SUSPENDED).limit(1))
                            .list())
                    .hasSize(1);
            assertThat(entered).hasValue(2_000);
            assertThat(idle).isLessThan(20);
            List<RunId> even = IntStream.range(0, 1_000)
                    .mapToObj(i -> RunId.of("w" + 2 * i))
                    .toList();
            List<RunId> odd = IntStream.range(0, 1_000)
                    .mapToObj(i -> RunId.of("w" + (2 * i + 1)))
                    .toList();
            perdure.sendAll(even, NEWS, to -> to.value().substring(1));
            perdure.resolveAll(odd, NEWS, to -> to.value().substring(1));
            perdure.settle();
            for (int i = 0; i < runs.size(); i++) {
                assertThat(runs.get(i).resultNow()).contains(i);
            }
        }
    }
}
