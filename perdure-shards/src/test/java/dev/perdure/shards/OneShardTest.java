package dev.perdure.shards;

import static dev.perdure.shards.Shard.shard;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.StartOptions;
import dev.perdure.memory.MemoryStore;
import dev.perdure.object.Handler;
import dev.perdure.object.ObjectContext;
import dev.perdure.object.VirtualObject;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.shard.Partitions;
import org.junit.jupiter.api.Test;

/** A store with a single shard, to which others may be added later: then its partitions have to be able to move. */
final class OneShardTest {
    private static final Definition<Integer, Integer> ORDER =
            Definition.of("order", Integer.class, Integer.class, (ctx, number) -> number);

    @VirtualObject("counter")
    static final class Counter {
        @Handler
        public int add(ObjectContext ctx, int number) {
            return number;
        }
    }

    @Test
    void the_ids_of_perdure_lead_to_the_partition_of_the_object_or_key() {
        try (ShardedStore store = ShardedStore.over(shard("a", new MemoryStore()));
                Perdure perdure = Perdure.on(store)
                        .register(ORDER)
                        .register(new Counter())
                        .start()) {
            for (int i = 0; i < 5; i++) { // the partitions of five ids are not all the right ones by accident
                String key = "k" + i;
                perdure.object(Counter.class, key).call(Counter::add, 1);
                assertThat(store.runs().list(RunFilter.all().definition("counter/add")))
                        .hasSize(i + 1)
                        .anySatisfy(call -> assertThat(Partitions.of(call.id()))
                                .isEqualTo(Partitions.of(new ObjectKey("counter", key))));
                Run<Integer> order = perdure.start(
                        Invocation.of(ORDER, 1), StartOptions.defaults().key(key));
                assertThat(Partitions.of(order.id())).isEqualTo(Partitions.ofQueueKey(key));
            }
        }
    }
}
