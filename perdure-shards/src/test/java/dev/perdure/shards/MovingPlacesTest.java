package dev.perdure.shards;

import static dev.perdure.StartOptions.id;
import static dev.perdure.shards.Shard.shard;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.StepOptions;
import dev.perdure.memory.MemoryStore;
import dev.perdure.queue.Limiter;
import dev.perdure.queue.Queue;
import dev.perdure.spi.shard.Places;
import dev.perdure.spi.shard.Places.Division;
import dev.perdure.spi.shard.Places.Limit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Places of limits go to the shard whose runs wait. */
@Timeout(120)
class MovingPlacesTest {
    private static final Duration SOON = Duration.ofSeconds(60);

    /** The shards. */
    Shard[] shards(int count) {
        return List.of("a", "b", "c").subList(0, count).stream()
                .map(name -> shard(name, new MemoryStore()))
                .toArray(Shard[]::new);
    }

    /** Counts from outside how many bodies are at work at once. */
    private static final class Counter {
        private final AtomicInteger now = new AtomicInteger();
        private final AtomicInteger most = new AtomicInteger();
        private final AtomicInteger bodies = new AtomicInteger();

        private int work(int number) {
            most.accumulateAndGet(now.incrementAndGet(), Math::max);
            bodies.incrementAndGet();
            Thread.yield();
            now.decrementAndGet();
            return number;
        }
    }

    private static List<Run<Integer>> start(
            Perdure perdure, ShardedStore store, int shard, Definition<Integer, Integer> what, int count) {
        return start(perdure, store, shard, what, count, "narrow");
    }

    private static List<Run<Integer>> start(
            Perdure perdure,
            ShardedStore store,
            int shard,
            Definition<Integer, Integer> what,
            int count,
            String queue) {
        String first = MembershipTest.onShard(store, shard).value();
        return IntStream.range(0, count)
                .mapToObj(i -> perdure.start(
                        Invocation.of(what, i), id(first + "/" + i).queue(queue)))
                .toList();
    }

    private void oneAtOnce(int count) {
        Counter counter = new Counter();
        Definition<Integer, Integer> narrow = Definition.of(
                "narrow", Integer.class, Integer.class, (ctx, number) -> ctx.step("work", () -> counter.work(number)));
        try (ShardedStore store = ShardedStore.over(shards(count));
                Perdure perdure = Perdure.on(store)
                        .register(narrow)
                        .queues(Queue.named("narrow").concurrency(1))
                        .start()) {
            List<Run<Integer>> runs = new ArrayList<>();
            for (int shard = 0; shard < count; shard++) {
                runs.addAll(start(perdure, store, shard, narrow, 10));
            }
            runs.forEach(run -> assertThat(run.result(SOON)).isNotNull());
        }
        assertThat(counter.most).hasValue(1);
        assertThat(counter.bodies).hasValue(10 * count);
    }

    @Test
    void one_at_once_on_two_shards() {
        oneAtOnce(2);
    }

    @Test
    void one_at_once_on_three_shards() {
        oneAtOnce(3);
    }

    @Test
    void all_places_are_used_by_the_shard_that_has_all_runs() throws Exception {
        CountDownLatch four = new CountDownLatch(4);
        Counter counter = new Counter();
        Definition<Integer, Integer> narrow = Definition.of(
                "narrow",
                Integer.class,
                Integer.class,
                (ctx, number) -> ctx.step("work", () -> {
                    counter.most.accumulateAndGet(counter.now.incrementAndGet(), Math::max);
                    four.countDown();
                    four.await();
                    counter.now.decrementAndGet();
                    return number;
                }));
        try (ShardedStore store = ShardedStore.over(shards(2));
                Perdure perdure = Perdure.on(store)
                        .register(narrow)
                        .queues(Queue.named("narrow").concurrency(4))
                        .start()) {
            List<Run<Integer>> runs = start(perdure, store, 1, narrow, 8);
            assertThat(four.await(60, TimeUnit.SECONDS)).isTrue();
            runs.forEach(run -> assertThat(run.result(SOON)).isNotNull());
            List<Run<Integer>> back = start(perdure, store, 0, narrow, 8);
            back.forEach(run -> assertThat(run.result(SOON)).isNotNull());
        }
        assertThat(counter.most).hasValueLessThanOrEqualTo(4);
    }

    /** A process that divides a limit may die when all shards have joined and none has settled: none of them asks for places then. */
    @Test
    void a_division_that_was_left_behind_goes_on_when_a_run_waits() {
        Definition<Integer, Integer> narrow =
                Definition.of("narrow", Integer.class, Integer.class, (ctx, number) -> number);
        Shard[] both = shards(2);
        try (ShardedStore store = ShardedStore.over(both);
                Perdure perdure = Perdure.on(store)
                        .register(narrow)
                        .queues(Queue.named("narrow").concurrency(1))
                        .start()) {
            Limit limit = new Limit(Places.Kind.QUEUE, "narrow");
            Division next = new Division(2, 1, Stream.of(both).map(Shard::name).toList());
            for (int shard = 0; shard < 2; shard++) {
                both[shard].store().exchange().orElseThrow().places().join(limit, next, 1 - shard);
            }

            assertThat(start(perdure, store, 1, narrow, 1).getFirst().result(SOON))
                    .isZero();
        }
    }

    @Test
    void a_limiter_of_one_lets_the_steps_of_both_shards_go_on() {
        Counter counter = new Counter();
        Limiter one = Limiter.named("one").concurrency(1);
        Definition<Integer, Integer> limited = Definition.of(
                "limited",
                Integer.class,
                Integer.class,
                (ctx, number) -> ctx.step("work", () -> counter.work(number), StepOptions.limit(one)));
        try (ShardedStore store = ShardedStore.over(shards(2));
                Perdure perdure =
                        Perdure.on(store).register(limited).limiters(one).start()) {
            List<Run<Integer>> runs = new ArrayList<>(start(perdure, store, 0, limited, 5, "default"));
            runs.addAll(start(perdure, store, 1, limited, 5, "default"));
            runs.forEach(run -> assertThat(run.result(SOON)).isNotNull());
        }
        assertThat(counter.most).hasValue(1);
    }
}
