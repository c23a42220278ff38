package dev.perdure.shards;

import dev.perdure.RunFilter;
import dev.perdure.error.StoreException;
import dev.perdure.spi.shard.Exchange.Membership;
import dev.perdure.spi.shard.ShardMap;
import java.util.List;
import java.util.Optional;

/**
 * Makes sure that all shards agree on the map before anything is written to them.
 *
 * <p>How it works. What a shard has stored once is never replaced here. The map is stored in one shard after the other, in
 * the order of their names. If a process stops in between, the next one finds the same map in some of them and stores it
 * in the others. Two processes that begin with different shards at the same time meet on the first shard that both have,
 * and the second of them is refused.
 */
final class Memberships {
    private Memberships() {}

    /** The map that all shards have. */
    static ShardMap agreed(List<Shard> shards, ShardMap first) {
        List<Optional<Membership>> stored =
                shards.stream().map(shard -> shard.exchange().membership()).toList();
        ShardMap map = stored.stream()
                .flatMap(Optional::stream)
                .map(Membership::map)
                .findFirst()
                .orElse(first);
        for (int i = 0; i < shards.size(); i++) {
            Shard shard = shards.get(i);
            stored.get(i).ifPresent(there -> require(shard, there, map, shards));
            if (stored.get(i).isEmpty() && shards.size() > 1) {
                requireEmpty(shard);
            }
        }
        for (Shard shard : shards) {
            require(shard, shard.exchange().join(new Membership(shard.name(), map)), map, shards);
        }
        return map;
    }

    private static void require(Shard shard, Membership there, ShardMap map, List<Shard> shards) {
        if (!there.name().equals(shard.name())) {
            throw unusable(
                    "The store of shard '%s' is shard '%s' by its own record. Give each shard the name that it had when it was first used."
                            .formatted(shard.name(), there.name()));
        }
        List<String> given = shards.stream().map(Shard::name).toList();
        if (!there.map().shards().equals(given)) {
            throw unusable(
                    "Shard '%s' belongs to the shards %s by its map of version %d, and this process has %s. Open all of them, and no others."
                            .formatted(
                                    shard.name(),
                                    there.map().shards(),
                                    there.map().version(),
                                    given));
        }
        if (!there.map().equals(map)) {
            throw unusable(
                    "Shard '%s' has the map of version %d, and another shard has version %d. Start the process again when both have the same."
                            .formatted(shard.name(), there.map().version(), map.version()));
        }
    }

    /** A run from before would not be found by its id if another shard has its partition. */
    private static void requireEmpty(Shard shard) {
        if (!shard.store().runs().list(RunFilter.all().limit(1)).isEmpty()) {
            throw unusable(
                    "The store of shard '%s' has runs from before it was one of several shards. Moving them is not supported yet. Begin with empty stores, and let the old runs end on a store of their own."
                            .formatted(shard.name()));
        }
    }

    private static StoreException unusable(String message) {
        return new StoreException(StoreException.Kind.UNUSABLE, message, null);
    }
}
