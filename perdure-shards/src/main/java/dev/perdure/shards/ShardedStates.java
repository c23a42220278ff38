package dev.perdure.shards;

import dev.perdure.spi.States;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.shard.Parts;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;

/** The state of virtual objects, each on the shard to which its type and key hash. */
final class ShardedStates implements States {
    private final Shards shards;

    ShardedStates(Shards shards) {
        this.shards = shards;
    }

    @Override
    public Optional<Payload> read(ObjectKey object, String name) {
        return shards.having(object).states().read(object, name);
    }

    @Override
    public Map<ObjectKey, SortedMap<String, Payload>> readAll(Collection<ObjectKey> objects) {
        Map<ObjectKey, SortedMap<String, Payload>> all = new HashMap<>();
        Parts.divide(objects, shards::of)
                .forEach(
                        (shard, some) -> all.putAll(shards.store(shard).states().readAll(some)));
        return all;
    }

    @Override
    public List<String> types(String after, int limit) {
        return shards.ask(store -> store.states().types(after, limit)).stream()
                .flatMap(List::stream)
                .distinct()
                .sorted(Shards.BY_UTF8)
                .limit(limit)
                .toList();
    }

    @Override
    public List<Listed> list(Page page) {
        return shards.ask(store -> store.states().list(page)).stream()
                .flatMap(List::stream)
                .sorted(Comparator.comparing(Listed::key, Shards.BY_UTF8))
                .limit(page.limit())
                .toList();
    }

    @Override
    public Values read(ObjectKey object, String after, int limit, int maxBytes) {
        return shards.having(object).states().read(object, after, limit, maxBytes);
    }
}
