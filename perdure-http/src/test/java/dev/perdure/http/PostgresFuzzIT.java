package dev.perdure.http;

import dev.perdure.embedded.SharedPostgres;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.spi.Store;
import org.junit.jupiter.api.Tag;

/** What the store in memory takes, a database may not. */
@Tag("thorough")
final class PostgresFuzzIT extends FuzzScenarios {
    private final SharedPostgres.Fresh database = SharedPostgres.database("fuzz");

    @Override
    Store open() {
        return PostgresStore.on(database.dataSource()).open();
    }

    @Override
    void drop() {
        database.close();
    }
}
