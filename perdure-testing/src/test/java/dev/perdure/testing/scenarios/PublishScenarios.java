package dev.perdure.testing.scenarios;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Published;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.Topic;
import dev.perdure.TypeRef;
import dev.perdure.error.ResultUnavailableException;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Published values and streams. */
abstract class PublishScenarios extends Scenarios {
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Topic<Integer> PERCENT = Topic.of("percent", Integer.class);
    private static final Topic<String> LOG = Topic.of("log", String.class);

    /** Publishes one number per hour. */
    private static Definition<Integer, Integer> working(AtomicInteger entered) {
        return Definition.of("working", Integer.class, Integer.class, (ctx, parts) -> {
            entered.incrementAndGet();
            for (int i = 1; i <= parts; i++) {
                ctx.sleep(HOUR);
                ctx.publish(PERCENT, 100 * i / parts);
                ctx.publish(LOG, "part " + i);
                ctx.step("work", () -> {});
            }
            return parts;
        });
    }

    private static <T> List<T> values(Iterator<Published<T>> stream) {
        List<T> all = new ArrayList<>();
        stream.forEachRemaining(each -> all.add(each.value()));
        return all;
    }

    @ParameterizedTest
    @EnumSource
    void anyone_reads_the_latest_during_and_after_the_run_without_replaying_it(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            AtomicInteger entered = new AtomicInteger();
            Definition<Integer, Integer> flow = working(entered);
            perdure.register(flow);
            Run<Integer> run = perdure.start(Invocation.of(flow, 4), id("w"));
            assertThat(run.published(PERCENT)).isEmpty();
            perdure.advance(HOUR.plusMinutes(1));
            int before = entered.get();
            assertThat(run.published(PERCENT)).contains(25);
            assertThat(run.published(LOG)).contains("part 1");
            assertThat(run.published(Topic.of("other", String.class))).isEmpty();
            perdure.crashAll();
            assertThat(run.published(PERCENT)).contains(25);
            assertThat(entered).hasValue(before);
            perdure.startWorker();
            perdure.advance(HOUR.multipliedBy(2));
            assertThat(run.published(PERCENT)).contains(75);
            assertThat(run.result()).isEqualTo(4);
            assertThat(perdure.client().run(run.id(), TypeRef.of(Integer.class)).published(PERCENT))
                    .contains(100);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_stream_is_read_from_the_start_while_it_is_written_to_its_end(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<Integer, Integer> flow = working(new AtomicInteger());
            perdure.register(flow);
            Run<Integer> run = perdure.start(Invocation.of(flow, 10));
            Iterator<Published<Integer>> stream = run.follow(PERCENT, 0);
            Instant begin = perdure.now();
            Published<Integer> first = stream.next();
            assertThat(first.value()).isEqualTo(10);
            assertThat(first.at()).isEqualTo(begin.plus(HOUR));
            Published<Integer> second = stream.next();
            assertThat(second.offset()).isGreaterThan(first.offset());
            perdure.crash();
            assertThat(values(stream)).containsExactly(30, 40, 50, 60, 70, 80, 90, 100);
            assertThat(run.state()).isEqualTo(RunState.COMPLETED);
            assertThatThrownBy(stream::next)
                    .isInstanceOf(NoSuchElementException.class)
                    .hasMessageContaining("has ended and published nothing more");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_slow_reader_misses_nothing_and_goes_on_from_any_offset_through_any_engine(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<Integer, Integer> flow = working(new AtomicInteger());
            perdure.register(flow);
            Run<Integer> run = perdure.start(Invocation.of(flow, 5));
            Iterator<Published<String>> slow = run.follow(LOG, 0);
            Published<String> first = slow.next();
            assertThat(run.result()).isEqualTo(5);
            assertThat(values(slow)).containsExactly("part 2", "part 3", "part 4", "part 5");
            Run<Integer> elsewhere = perdure.client().run(run.id(), TypeRef.of(Integer.class));
            assertThat(values(elsewhere.follow(LOG, first.offset())))
                    .containsExactly("part 2", "part 3", "part 4", "part 5");
            assertThat(values(elsewhere.follow(LOG, Long.MAX_VALUE))).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_wait_for_the_first_value_ends_with_it(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<Integer, Integer> flow = working(new AtomicInteger());
            perdure.register(flow);
            Run<Integer> run = perdure.start(Invocation.of(flow, 2), id("w"));
            assertThat(run.awaitPublished(PERCENT, Duration.ofDays(1))).isEqualTo(50);
            assertThat(perdure.now()).isEqualTo("2030-01-01T01:00:00Z");
            Topic<String> other = Topic.of("other", String.class);
            assertThatThrownBy(() -> run.awaitPublished(other, Duration.ofMinutes(1)))
                    .isInstanceOf(ResultUnavailableException.class)
                    .hasMessage(
                            "Run 'w' has not published 'other' after PT1M; it is SUSPENDED: Waits until 2030-01-01T02:00:00Z. It continues; wait again.");
            assertThatThrownBy(() -> run.awaitPublished(other, Duration.ofSeconds(Long.MAX_VALUE)))
                    .isInstanceOf(ResultUnavailableException.class)
                    .hasMessage("Run 'w' has ended without publishing 'other'.");
        }
    }

    @ParameterizedTest
    @EnumSource
    void what_is_published_last_is_there_when_the_result_is(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<String, String> flow = workflow("last", (ctx, in) -> {
                ctx.publish(LOG, "last");
                if (in.equals("throw")) {
                    throw new IllegalStateException("over");
                }
                return in;
            });
            perdure.register(flow);
            Run<String> returned = perdure.start(Invocation.of(flow, "return"));
            returned.result();
            Run<String> thrown = perdure.start(Invocation.of(flow, "throw"));
            assertThatThrownBy(thrown::result).hasMessageContaining("over");
            assertThat(returned.published(LOG)).contains("last");
            assertThat(thrown.published(LOG)).contains("last");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_stream_goes_on_when_its_run_begins_anew(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Definition<Integer, String> flow = Definition.of("rounds", Integer.class, String.class, (ctx, round) -> {
                ctx.publish(LOG, "round " + round);
                if (round < 4) {
                    throw ctx.continueAsNew(round + 1);
                }
                return "over";
            });
            perdure.register(flow);
            Run<String> run = perdure.start(Invocation.of(flow, 1));
            List<Published<String>> all = new ArrayList<>();
            run.follow(LOG, 0).forEachRemaining(all::add);
            assertThat(all.stream().map(Published::value)).containsExactly("round 1", "round 2", "round 3", "round 4");
            assertThat(all.stream().map(Published::offset).toList()).isSorted().doesNotHaveDuplicates();
            assertThat(run.published(LOG)).contains("round 4");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_long_stream_is_read_a_page_at_a_time(TestMode mode) {
        try (PerdureTest perdure = create(mode)) {
            Topic<Integer> numbers = Topic.of("numbers", Integer.class);
            Definition<Integer, Integer> flow = Definition.of("long", Integer.class, Integer.class, (ctx, count) -> {
                IntStream.range(0, count).forEach(i -> ctx.publish(numbers, i));
                return count;
            });
            perdure.register(flow);
            Run<Integer> run = perdure.start(Invocation.of(flow, 1_300));
            assertThat(values(run.follow(numbers, 0)))
                    .isEqualTo(IntStream.range(0, 1_300).boxed().toList());
        }
    }
}
