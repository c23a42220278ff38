package dev.perdure.shards;

import dev.perdure.embedded.SharedPostgres;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.spi.Store;
import java.util.ArrayList;
import java.util.List;

/** The same on two databases of one server. */
final class ShardedEngineIT extends ShardedEngineCases {
    private final List<SharedPostgres.Fresh> databases = new ArrayList<>();

    @Override
    Store open(String name) {
        SharedPostgres.Fresh database = SharedPostgres.database("shard_" + name);
        databases.add(database);
        return PostgresStore.on(database.dataSource()).open();
    }

    @Override
    void drop() {
        databases.forEach(SharedPostgres.Fresh::close);
    }
}
