package dev.perdure.http;

import dev.perdure.spi.Store;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

final class PostgresRoutesIT extends RoutesScenarios {
    private static ClassDatabase database;

    @BeforeAll
    static void create() {
        database = new ClassDatabase("http");
    }

    @AfterAll
    static void remove() {
        database.close();
    }

    @Override
    Store open() {
        return database.emptyStore();
    }
}
