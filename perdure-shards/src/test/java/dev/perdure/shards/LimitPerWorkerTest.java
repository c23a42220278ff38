package dev.perdure.shards;

import static dev.perdure.StartOptions.id;
import static dev.perdure.shards.Shard.shard;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.memory.MemoryStore;
import dev.perdure.queue.Queue;
import dev.perdure.queue.QueueInfo;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A limit per worker holds for a process over all shards, whatever their number. */
@Timeout(120)
class LimitPerWorkerTest {
    private static final Duration SOON = Duration.ofSeconds(60);

    private final AtomicInteger now = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();
    private final Semaphore begun = new Semaphore(0);
    private final Semaphore gate = new Semaphore(0);
    private final Definition<Integer, Integer> narrow = Definition.of(
            "narrow",
            Integer.class,
            Integer.class,
            (ctx, number) -> ctx.step("work", () -> {
                most.accumulateAndGet(now.incrementAndGet(), Math::max);
                begun.release();
                gate.acquire();
                now.decrementAndGet();
                return number;
            }));

    /** The shards. */
    Shard[] shards(int count) {
        return List.of("a", "b", "c").subList(0, count).stream()
                .map(name -> shard(name, new MemoryStore()))
                .toArray(Shard[]::new);
    }

    private Perdure process(ShardedStore store, int perWorker) {
        return Perdure.on(store)
                .register(narrow)
                .queues(Queue.named("narrow").perWorker(perWorker))
                .start();
    }

    private List<Run<Integer>> start(Perdure perdure, ShardedStore store, int shard, int count) {
        String first = MembershipTest.onShard(store, shard).value();
        return IntStream.range(0, count)
                .mapToObj(i -> perdure.start(
                        Invocation.of(narrow, shard), id(first + "/" + i).queue("narrow")))
                .toList();
    }

    private void begins(int runs) throws InterruptedException {
        assertThat(begun.tryAcquire(runs, 60, TimeUnit.SECONDS)).isTrue();
    }

    private void oneAtOnce(int count) throws InterruptedException {
        try (ShardedStore store = ShardedStore.over(shards(count));
                Perdure perdure = process(store, 1)) {
            assertThat(store.queues().find("narrow").map(QueueInfo::limits))
                    .contains(Queue.named("narrow").perWorker(1));
            List<Run<Integer>> runs = new ArrayList<>();
            for (int shard = 0; shard < count; shard++) {
                runs.addAll(start(perdure, store, shard, 5));
            }
            for (int i = 0; i < 5 * count; i++) {
                begins(1);
                gate.release();
            }
            runs.forEach(run -> assertThat(run.result(SOON)).isNotNull());
        }
        assertThat(most).hasValue(1);
    }

    @Test
    void one_at_once_on_two_shards() throws InterruptedException {
        oneAtOnce(2);
    }

    @Test
    void one_at_once_on_three_shards() throws InterruptedException {
        oneAtOnce(3);
    }

    @Test
    void one_shard_alone_uses_the_whole_limit_and_shares_it_with_the_next() throws InterruptedException {
        try (ShardedStore store = ShardedStore.over(shards(2));
                Perdure perdure = process(store, 3)) {
            List<Run<Integer>> first = start(perdure, store, 1, 100);
            begins(3);
            List<Run<Integer>> second = start(perdure, store, 0, 3);
            gate.release(20);
            second.forEach(run -> assertThat(run.result(SOON)).isZero());
            gate.release(83);
            first.forEach(run -> assertThat(run.result(SOON)).isEqualTo(1));
        }
        assertThat(most).hasValue(3);
    }

    @Test
    void each_process_has_a_limit_of_its_own() throws InterruptedException {
        try (ShardedStore store = ShardedStore.over(shards(2));
                Perdure one = process(store, 1);
                Perdure other = process(store, 1)) {
            List<Run<Integer>> runs = new ArrayList<>(start(one, store, 0, 4));
            runs.addAll(start(other, store, 1, 4));
            begins(2);
            gate.release(8);
            runs.forEach(run -> assertThat(run.result(SOON)).isNotNull());
        }
        assertThat(most).hasValue(2);
    }

    @Test
    void a_change_by_an_operator_holds_for_the_process() throws InterruptedException {
        try (ShardedStore store = ShardedStore.over(shards(2));
                Perdure perdure = process(store, 1)) {
            List<Run<Integer>> runs = new ArrayList<>(start(perdure, store, 0, 6));
            runs.addAll(start(perdure, store, 1, 6));
            begins(1);
            perdure.queues().limit(Queue.named("narrow").perWorker(4));
            begins(3);
            gate.release(12);
            runs.forEach(run -> assertThat(run.result(SOON)).isNotNull());
        }
        assertThat(most).hasValue(4);
    }
}
