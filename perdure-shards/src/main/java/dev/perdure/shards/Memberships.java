package dev.perdure.shards;

import dev.perdure.RunFilter;
import dev.perdure.error.StoreException;
import dev.perdure.spi.shard.Exchange.Membership;
import dev.perdure.spi.shard.ShardMap;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Makes sure that all shards agree on the map before anything is written to them.
 *
 * <p>How it works. What a shard has stored once is never replaced here. The map is stored in one shard after the other, in
 * the order of their names. If a process stops in between, the next one finds the same map in some of them and stores it
 * in the others. Two processes that begin with different shards at the same time meet on the first shard that both have,
 * and the second of them is refused. While a partition moves, shards have different versions of the map. The newest one
 * holds.
 */
final class Memberships {
    private Memberships() {}

    /** The map that all shards have. */
    static ShardMap agreed(List<Shard> shards, ShardMap first) {
        List<Optional<Membership>> stored =
                shards.stream().map(Memberships::stored).toList();
        ShardMap map = stored.stream()
                .flatMap(Optional::stream)
                .map(Membership::map)
                .max(Comparator.comparing(ShardMap::version))
                .orElse(first);
        for (int i = 0; i < shards.size(); i++) {
            Shard shard = shards.get(i);
            stored.get(i).ifPresent(there -> require(shard, there, map, shards));
            if (stored.get(i).isEmpty() && shards.size() > 1) {
                requireOneOf(map, shard);
                requireEmpty(shard);
            }
        }
        for (Shard shard : shards) {
            require(shard, shard.exchange().join(new Membership(shard.name(), map)), map, shards);
        }
        return map;
    }

    /** A shard that was not there from the beginning gets its number and its settings when an operator adds it. */
    private static void requireOneOf(ShardMap map, Shard shard) {
        if (!map.shards().contains(shard.name())) {
            throw unusable(
                    "Shard '%s' is none of the shards %s of the map of version %s. Add it with './perdure shards add' first."
                            .formatted(shard.name(), map.shards(), map.version()));
        }
    }

    private static Optional<Membership> stored(Shard shard) {
        try {
            return shard.exchange().membership();
        } catch (StoreException trouble) {
            throw shard.named(trouble);
        }
    }

    private static void require(Shard shard, Membership there, ShardMap map, List<Shard> shards) {
        if (!there.name().equals(shard.name())) {
            throw unusable(
                    "The store of shard '%s' is shard '%s' by its own record. Give each shard the name that it had when it was first used."
                            .formatted(shard.name(), there.name()));
        }
        List<String> given = shards.stream().map(Shard::name).toList();
        if (!given.containsAll(map.shards())) {
            throw unusable(
                    "Shard '%s' belongs to the shards %s by the map of version %s, and this process has %s. Open all of them."
                            .formatted(shard.name(), map.shards(), map.version(), given));
        }
        if (there.map().version() == map.version() && !there.map().equals(map)) {
            throw unusable(
                    "Shard '%s' and another shard have different maps of version %s. One of them belongs to other shards: look at the table 'shard' of each."
                            .formatted(shard.name(), map.version()));
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
