package dev.perdure.postgres;

import static dev.perdure.postgres.StoreFixture.append;
import static dev.perdure.postgres.StoreFixture.complete;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.spi.change.RunRef;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

/** Measures costs on the wire and on the disk: round trips as the server sees them, and transactions that write. */
abstract class CostMeasurement {
    protected CountingProxy proxy;
    protected HikariDataSource pool;
    protected PostgresStore store;
    protected StoreFixture fixture;

    /** Autovacuum takes transaction numbers too, whenever it likes. */
    @BeforeAll
    static void stopAutovacuum() {
        autovacuum("off");
        await().until(() -> TestServer.query(
                        "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'autovacuum worker'")
                .equals("0"));
    }

    @AfterAll
    static void startAutovacuum() {
        autovacuum("on");
    }

    private static void autovacuum(String mode) {
        TestServer.execute("ALTER SYSTEM SET autovacuum = " + mode);
        TestServer.execute("SELECT pg_reload_conf()");
    }

    @BeforeEach
    final void open() {
        proxy = new CountingProxy();
        pool = proxy.pool(3);
        store = PostgresStore.on(pool)
                .schema(TestServer.schemaOf(getClass()))
                .notifications(false)
                .open();
        fixture = new StoreFixture(store);
        // The driver splits executes by what it has learnt of their results, so everything is measured when it is warm.
        for (int i = 0; i < 10; i++) {
            RunRef run = fixture.start("warm-" + i);
            fixture.apply(append(run, 1));
            fixture.apply(complete(run));
        }
    }

    @AfterEach
    final void close() {
        store.close();
        pool.close();
        proxy.close();
    }

    protected record Cost(int roundTrips, long commits) {}

    protected final Cost costOf(Runnable work) {
        long before = transactions();
        proxy.reset();
        work.run();
        int roundTrips = proxy.roundTrips();
        return new Cost(roundTrips, transactions() - before);
    }

    /** Every transaction that writes takes a number. */
    private static long transactions() {
        return Long.parseLong(TestServer.query("SELECT pg_snapshot_xmax(pg_current_snapshot())"));
    }
}
