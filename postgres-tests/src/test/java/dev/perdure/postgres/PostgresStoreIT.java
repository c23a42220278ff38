package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.conformance.ExchangeConformance;
import dev.perdure.conformance.PlacesConformance;
import dev.perdure.conformance.contract.StoreContract;
import dev.perdure.spi.Store;
import java.time.Instant;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;

/** The store contract on PostgreSQL. */
final class PostgresStoreIT extends StoreContract {
    private static final String SCHEMA = TestServer.newSchema();

    private static CountingProxy proxy;
    private static HikariDataSource pool;

    @BeforeAll
    static void openPool() {
        proxy = new CountingProxy();
        pool = TestServer.pool(proxy.source(), 9);
        PostgresStore.on(pool).schema(SCHEMA).notifications(false).open().close();
    }

    @AfterAll
    static void every_transaction_has_stated_its_settings() {
        pool.close();
        proxy.close();
        assertThat(proxy.roundTrips()).isGreaterThan(1_000);
        assertThat(proxy.unsettled())
                .as("first statements of transactions")
                .noneMatch(text -> text.contains(SCHEMA + ".") && !text.contains(SCHEMA + ".migration"));
    }

    @Override
    protected Store freshStore(Supplier<Instant> time) {
        TestServer.empty(SCHEMA);
        return PostgresStore.on(pool)
                .schema(SCHEMA)
                .notifications(false)
                .time(time)
                .open();
    }

    @Nested
    final class Exchanging extends ExchangeConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    final class MovingPlaces extends PlacesConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }
}
