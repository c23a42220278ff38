package dev.perdure.http;

import dev.perdure.embedded.SharedPostgres;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.spi.Store;

final class PostgresRoutesIT extends RoutesScenarios {
    private SharedPostgres.Fresh database;

    @Override
    Store open() {
        database = SharedPostgres.database("http");
        return PostgresStore.on(database.dataSource()).open();
    }

    @Override
    void drop() {
        database.close();
    }
}
