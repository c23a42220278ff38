package dev.perdure.shards;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.StoreException;
import dev.perdure.spi.Store;
import dev.perdure.spi.shard.Exchange;

/**
 * One of the stores among which a {@link ShardedStore} divides its runs.
 *
 * @param name its name, which it keeps for good: the map of the partitions names it
 * @param store the store, which belongs to the sharded store from then on
 */
public record Shard(String name, Store store) {
    private static final String NAME = "[a-z][a-z0-9_-]{0,39}";

    /** Checks the name, and that the store can be a shard. */
    public Shard {
        if (name == null || !name.matches(NAME)) {
            throw new InvalidRequestException(
                    "The name of a shard is '%s'. Begin it with a lower-case letter, followed by at most 39 lower-case letters, digits, '-' or '_'."
                            .formatted(name));
        }
        if (store == null || store.exchange().isEmpty()) {
            throw new InvalidRequestException(
                    "The store of shard '%s' cannot be a shard. Give it a PostgresStore or a MemoryStore of its own."
                            .formatted(name));
        }
    }

    /** A shard. */
    public static Shard shard(String name, Store store) {
        return new Shard(name, store);
    }

    /** The trouble of this shard, with its name in the message. */
    StoreException named(StoreException trouble) {
        return new StoreException(trouble.kind(), "Shard '%s': %s".formatted(name, trouble.getMessage()), trouble);
    }

    Exchange exchange() {
        return store.exchange().orElseThrow();
    }
}
