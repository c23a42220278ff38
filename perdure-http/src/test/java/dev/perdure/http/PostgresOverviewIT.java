package dev.perdure.http;

import dev.perdure.embedded.SharedPostgres;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.spi.Store;

final class PostgresOverviewIT extends OverviewScenarios {
    private SharedPostgres.Fresh database;

    @Override
    Store open() {
        database = SharedPostgres.database("overview");
        return PostgresStore.on(database.dataSource()).open();
    }

    @Override
    void drop() {
        database.close();
    }
}
