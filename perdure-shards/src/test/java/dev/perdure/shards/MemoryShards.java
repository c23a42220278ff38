package dev.perdure.shards;

import static dev.perdure.shards.Shard.shard;

import dev.perdure.memory.MemoryStore;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Store;
import dev.perdure.spi.shard.Exchange.Membership;
import dev.perdure.spi.shard.Partitions;
import dev.perdure.spi.shard.ShardMap;
import java.lang.reflect.Proxy;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;

/** Shards in memory whose time is the test's, and whose batches return when everything that they send has arrived. */
public final class MemoryShards {
    private static final int UNUSED = 255;

    private MemoryShards() {}

    /** Shards that have the same number of partitions, one more at most. */
    static Store even(int count, Supplier<Instant> time) {
        return even(count, clockwork(time));
    }

    /** Shards that have the same number of partitions, one more at most. */
    public static Store even(int count, Clockwork clockwork) {
        return ShardedStore.settling(List.of("a", "b", "c").subList(0, count).stream()
                .map(name -> shard(name, new MemoryStore(clockwork)))
                .toArray(Shard[]::new));
    }

    /**
     * Two shards, of which the second has a single partition, in which few cases have a run. The first has the larger share of
     * every limit, and so all of a limit of one place.
     */
    static Store uneven(Supplier<Instant> time) {
        List<String> owners = new ArrayList<>(Collections.nCopies(Partitions.COUNT, "a"));
        owners.set(UNUSED, "b");
        ShardMap map = new ShardMap(ShardMap.FIRST, owners);
        Shard[] shards = List.of("a", "b").stream()
                .map(name -> {
                    MemoryStore store = new MemoryStore(clockwork(time));
                    store.exchange().orElseThrow().join(new Membership(name, map));
                    return shard(name, store);
                })
                .toArray(Shard[]::new);
        return ShardedStore.settling(shards);
    }

    static Clockwork clockwork(Supplier<Instant> time) {
        return (Clockwork) Proxy.newProxyInstance(
                Clockwork.class.getClassLoader(),
                new Class<?>[] {Clockwork.class},
                (self, method, arguments) -> switch (method.getName()) {
                    case "now" -> time.get();
                    case "nanoTime" -> System.nanoTime();
                    case "random" -> ThreadLocalRandom.current().nextLong();
                    default -> throw new UnsupportedOperationException(method.getName());
                });
    }
}
