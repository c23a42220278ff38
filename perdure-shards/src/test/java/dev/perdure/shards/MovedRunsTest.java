package dev.perdure.shards;

import static dev.perdure.StartOptions.id;
import static dev.perdure.shards.Shard.shard;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.RunId;
import dev.perdure.memory.MemoryStore;
import dev.perdure.spi.shard.Exchange.Look;
import dev.perdure.spi.shard.Exchange.Membership;
import dev.perdure.spi.shard.Partitions;
import dev.perdure.spi.shard.ShardMap;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A worker drops the runs that have moved to another shard, also while they are in bodies. */
final class MovedRunsTest {
    private final BreakableStore a = new BreakableStore(new MemoryStore());
    private final CountDownLatch inBody = new CountDownLatch(1);
    private final CountDownLatch interrupted = new CountDownLatch(1);
    private final Definition<Integer, Integer> waiting = Definition.of(
            "waiting",
            Integer.class,
            Integer.class,
            (ctx, number) -> ctx.step("waiting", () -> {
                inBody.countDown();
                try {
                    new CountDownLatch(1).await();
                } catch (InterruptedException moved) {
                    interrupted.countDown();
                    throw moved;
                }
                return number;
            }));

    private void moved(ShardMap before, RunId run) {
        ShardMap after = before.with(Partitions.of(run), "b");
        a.answering("Exchange.membership", Optional.of(new Membership("a", after)));
        a.answering("Exchange.newerMap", Optional.of(after));
        a.answering("Exchange.look", new Look(after.version(), List.of()));
    }

    private void isInterrupted(ShardedStore store, ShardMap map, Duration lease) throws InterruptedException {
        try (store;
                Perdure perdure =
                        Perdure.on(store).register(waiting).lease(lease).start()) {
            RunId run = MembershipTest.onShard(store, 0);
            perdure.start(Invocation.of(waiting, 1), id(run.value()));
            assertThat(inBody.await(30, TimeUnit.SECONDS)).isTrue();
            moved(map, run);
            assertThat(interrupted.await(30, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void a_body_is_interrupted_when_its_process_has_a_newer_map() throws Exception {
        isInterrupted(
                ShardedStore.over(shard("a", a.store()), shard("b", new MemoryStore())),
                ShardMap.first(List.of("a", "b")),
                Duration.ofMinutes(10));
    }

    @Test
    void a_lease_is_renewed_only_with_the_map_of_then() throws Exception {
        isInterrupted(ShardedStore.over(shard("a", a.store())), ShardMap.first(List.of("a")), Duration.ofSeconds(2));
    }
}
