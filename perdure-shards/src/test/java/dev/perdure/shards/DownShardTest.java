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
import dev.perdure.error.StoreException;
import dev.perdure.memory.MemoryStore;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
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
}
