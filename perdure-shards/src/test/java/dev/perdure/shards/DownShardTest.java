package dev.perdure.shards;

import static dev.perdure.StartOptions.id;
import static dev.perdure.shards.Shard.shard;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.error.StoreException;
import dev.perdure.memory.MemoryStore;
import dev.perdure.queue.Queue;
import dev.perdure.spi.Store;
import dev.perdure.spi.shard.Places;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** A shard that is out of reach stops its own runs and no others. */
final class DownShardTest {
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final Definition<Integer, Integer> TWICE =
            Definition.of("twice", Integer.class, Integer.class, (ctx, number) -> ctx.step("twice", () -> 2 * number));

    private final BreakableStore b = new BreakableStore(new MemoryStore());

    @Test
    void runs_of_the_other_shard_go_on_and_its_own_when_it_is_back() throws Exception {
        try (ShardedStore store = ShardedStore.over(shard("a", new MemoryStore()), shard("b", b.store()));
                Perdure perdure = Perdure.on(store).register(TWICE).start()) {
            String onA = MembershipTest.onShard(store, 0).value();
            String onB = MembershipTest.onShard(store, 1).value();
            b.down(true);
            CompletableFuture<Run<Integer>> starting =
                    CompletableFuture.supplyAsync(() -> perdure.start(Invocation.of(TWICE, 4), id(onB)));
            assertThat(perdure.start(Invocation.of(TWICE, 5), id(onA)).result(SOON))
                    .isEqualTo(10);
            assertThatThrownBy(() -> store.runs().list(RunFilter.all()))
                    .isInstanceOf(StoreException.class)
                    .hasMessage("Shard 'b': It is down.");
            assertThat(starting).isNotDone();
            b.down(false);
            assertThat(starting.get(30, TimeUnit.SECONDS).result(SOON)).isEqualTo(8);
        }
    }

    @Test
    void an_engine_that_starts_meanwhile_is_told_which_shard_is_down_and_the_others_go_on() {
        try (ShardedStore store = ShardedStore.over(shard("a", new MemoryStore()), shard("b", b.store()));
                Perdure perdure = Perdure.on(store).register(TWICE).start()) {
            String onA = MembershipTest.onShard(store, 0).value();
            b.down(true);
            assertThatThrownBy(() -> Perdure.on(store).register(TWICE).start())
                    .isInstanceOf(StoreException.class)
                    .hasMessage("Shard 'b': It is down.");
            assertThatThrownBy(() -> ShardedStore.over(shard("a", new MemoryStore()), shard("b", b.store())))
                    .isInstanceOf(StoreException.class)
                    .hasMessage("Shard 'b': It is down.");
            assertThat(perdure.start(Invocation.of(TWICE, 5), id(onA)).result(SOON))
                    .isEqualTo(10);
            b.down(false);
        }
    }

    @Test
    void a_limit_holds_over_all_shards_also_while_one_is_down() throws Exception {
        AtomicInteger atOnce = new AtomicInteger();
        AtomicInteger mostAtOnce = new AtomicInteger();
        Semaphore begun = new Semaphore(0);
        Semaphore gate = new Semaphore(0);
        Definition<Integer, Integer> narrow = Definition.of(
                "narrow",
                Integer.class,
                Integer.class,
                (ctx, number) -> ctx.step("work", () -> {
                    mostAtOnce.accumulateAndGet(atOnce.incrementAndGet(), Math::max);
                    begun.release();
                    gate.acquire();
                    atOnce.decrementAndGet();
                    return number;
                }));
        try (ShardedStore store = ShardedStore.over(shard("a", new MemoryStore()), shard("b", b.store()));
                Perdure perdure = Perdure.on(store)
                        .register(narrow)
                        .queues(Queue.named("narrow").concurrency(5))
                        .start()) {
            List<Run<Integer>> ofA = started(perdure, narrow, MembershipTest.onShard(store, 0));
            List<Run<Integer>> ofB = started(perdure, narrow, MembershipTest.onShard(store, 1));
            assertThat(begun.tryAcquire(5, 30, TimeUnit.SECONDS)).isTrue();
            for (int i = 0; i < 3; i++) { // one ends, and the next one of its shard begins
                gate.release();
                assertThat(begun.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
            }
            b.down(true);
            gate.release(12);
            assertThat(ofA).allSatisfy(run -> assertThat(run.result(SOON)).isEqualTo(1));
            b.down(false);
            gate.release(12); // a body that was not recorded in time is called again
            assertThat(ofB).allSatisfy(run -> assertThat(run.result(SOON)).isEqualTo(1));
        }
        assertThat(mostAtOnce).hasValue(5);
    }

    @Test
    void a_shard_that_hangs_keeps_no_other_from_giving_its_places() throws Exception {
        Semaphore begun = new Semaphore(0);
        Semaphore gate = new Semaphore(0);
        Definition<Integer, Integer> narrow = Definition.of(
                "narrow",
                Integer.class,
                Integer.class,
                (ctx, number) -> ctx.step("work", () -> {
                    begun.release();
                    gate.acquire();
                    return number;
                }));
        BreakableStore c = new BreakableStore(new MemoryStore()); // b asks it before it asks a
        MemoryStore a = new MemoryStore();
        List<Store> stores = List.of(a, b.store(), c.store());
        try (ShardedStore store = ShardedStore.over(shard("a", a), shard("b", b.store()), shard("c", c.store()));
                Perdure perdure = Perdure.on(store)
                        .register(narrow)
                        .queues(Queue.named("narrow").concurrency(3))
                        .start()) {
            c.hang();
            List<Run<Integer>> runs = started(perdure, narrow, MembershipTest.onShard(store, 1));
            assertThat(begun.tryAcquire(2, 30, TimeUnit.SECONDS))
                    .as("its own place and that of a")
                    .isTrue();
            c.answer();
            assertThat(begun.tryAcquire(30, TimeUnit.SECONDS))
                    .as("that of c, which comes late")
                    .isTrue();
            assertThat(stores.stream()
                            .flatMap(each -> each.exchange().orElseThrow().places().shares().stream())
                            .mapToInt(Places.Share::places))
                    .containsExactly(0, 3, 0);
            gate.release(6);
            assertThat(runs).allSatisfy(run -> assertThat(run.result(SOON)).isEqualTo(1));
        } finally {
            c.answer();
        }
    }

    @Test
    void a_shard_that_hangs_keeps_no_place_of_the_process_from_the_others() {
        try (ShardedStore store = ShardedStore.over(shard("a", new MemoryStore()), shard("b", b.store()));
                Perdure perdure = Perdure.on(store)
                        .register(TWICE)
                        .queues(Queue.named("narrow").perWorker(1))
                        .start()) {
            b.hang();
            assertThat(started(perdure, TWICE, MembershipTest.onShard(store, 0)))
                    .allSatisfy(run -> assertThat(run.result(SOON)).isEqualTo(2));
            b.answer();
            assertThat(started(perdure, TWICE, MembershipTest.onShard(store, 1)))
                    .allSatisfy(run -> assertThat(run.result(SOON)).isEqualTo(2));
        } finally {
            b.answer();
        }
    }

    private static List<Run<Integer>> started(Perdure perdure, Definition<Integer, Integer> what, RunId first) {
        return IntStream.range(0, 6)
                .mapToObj(i -> perdure.start(
                        Invocation.of(what, 1), id(first.value() + "/" + i).queue("narrow")))
                .toList();
    }
}
