package dev.perdure.torture.setup;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.shards.Shard;
import dev.perdure.shards.ShardedStore;
import java.util.ArrayList;
import java.util.List;

/** The store over all shards, and what it consists of. */
public final class ShardStores implements AutoCloseable {
    private final CloseStack closing = new CloseStack();
    private final List<PostgresStore> stores = new ArrayList<>();
    private final ShardedStore sharded;

    /** Opens the shards at these addresses. */
    public ShardStores(List<Address> addresses) {
        try {
            List<Shard> shards = new ArrayList<>();
            for (Address address : addresses) {
                HikariDataSource pool = closing.add(address.pool());
                PostgresStore store = closing.add(PostgresStore.on(pool).open());
                shards.add(Shard.shard(ShardSite.NAMES.get(stores.size()), store));
                stores.add(store);
            }
            this.sharded = closing.add(ShardedStore.over(shards.toArray(Shard[]::new)));
        } catch (RuntimeException | Error failed) {
            closing.close();
            throw failed;
        }
    }

    /** All of them as one. */
    public ShardedStore sharded() {
        return sharded;
    }

    /** The first shard. */
    public PostgresStore first() {
        return stores.getFirst();
    }

    @Override
    public void close() {
        closing.close();
    }
}
