package dev.perdure.spi.shard;

import dev.perdure.error.InvalidRequestException;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/**
 * Which shard has which partition. Every shard keeps the same map.
 *
 * @param version rises with every change of the map
 * @param owners the names of the shards, by partition
 */
public record ShardMap(int version, List<String> owners) {
    /** The version of a map that was never changed. */
    public static final int FIRST = 1;

    /** Checks that every partition has an owner. */
    public ShardMap {
        owners = List.copyOf(owners);
        if (owners.size() != Partitions.COUNT) {
            throw new IllegalArgumentException(
                    "A map has %s partitions, not %s.".formatted(Partitions.COUNT, owners.size()));
        }
    }

    /**
     * The map of shards that begin together: each has as many partitions as the others, one more at most. They take turns,
     * because ids that end with consecutive numbers have consecutive partitions.
     */
    public static ShardMap first(List<String> shards) {
        if (shards.isEmpty() || shards.size() > Partitions.COUNT) {
            throw new InvalidRequestException("A store has from 1 to %s shards, not %s. Name them with shard(…)."
                    .formatted(Partitions.COUNT, shards.size()));
        }
        List<String> sorted = List.copyOf(new TreeSet<>(shards));
        List<String> owners = new ArrayList<>();
        for (int partition = 0; partition < Partitions.COUNT; partition++) {
            owners.add(sorted.get(partition % sorted.size()));
        }
        return new ShardMap(FIRST, owners);
    }

    /** The next version of this map, with a partition on another shard. */
    public ShardMap with(int partition, String shard) {
        List<String> changed = new ArrayList<>(owners);
        changed.set(partition, shard);
        return new ShardMap(version + 1, changed);
    }

    /** The names of the shards that have partitions, in their order. */
    public List<String> shards() {
        return List.copyOf(new TreeSet<>(owners));
    }

    /** How many partitions a shard has. */
    public long partitionsOf(String shard) {
        return owners.stream().filter(shard::equals).count();
    }
}
