package dev.perdure.spi.shard;

import java.util.Optional;

/** What a store keeps so that it can be one of several shards. */
public interface Exchange {
    /**
     * The name of a shard and the map that it works with.
     *
     * @param name the name
     * @param map the map
     */
    record Membership(String name, ShardMap map) {}

    /** The membership that was stored here; empty if this store has always been alone. */
    Optional<Membership> membership();

    /** Stores a first membership, unless there is one, and returns the one that is there then. */
    Membership join(Membership first);
}
