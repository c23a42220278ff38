package dev.perdure.postgres;

import static dev.perdure.postgres.StoreFixture.newRun;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.conformance.RaceConformance;
import dev.perdure.conformance.StartKeyConformance;
import dev.perdure.conformance.operation.RetryConformance;
import dev.perdure.conformance.queue.FullKeyConformance;
import dev.perdure.queue.Queue;
import dev.perdure.spi.Store;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.NewRun;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** Limits hold on a database, a role or a pool whose transactions have another isolation level by default. */
final class OtherDefaultsIT {
    private static final int KEYS = 30;
    private static final int STARTS_OF_A_KEY = 6;
    private static final int MOST_OF_A_KEY = 2;

    private static HikariDataSource pool;

    @BeforeAll
    static void openPool() {
        PGSimpleDataSource source = TestServer.plain();
        source.setOptions("-c default_transaction_isolation=repeatable\\ read");
        pool = TestServer.pool(source, 12);
    }

    @AfterAll
    static void closePool() {
        pool.close();
    }

    @Test
    void no_key_has_more_runs_than_it_may_have() throws Exception {
        String schema = TestServer.newSchema();
        try (PostgresStore store = PostgresStore.on(pool)
                        .schema(schema)
                        .notifications(false)
                        .lanes(8)
                        .open();
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            store.queues()
                    .declare(
                            List.of(Queue.named("narrow").perKey(MOST_OF_A_KEY).whenKeyFull(Queue.WhenKeyFull.REFUSE)));
            List<Future<?>> starts = new ArrayList<>();
            for (int key = 0; key < KEYS; key++) {
                for (int i = 0; i < STARTS_OF_A_KEY; i++) {
                    Change start = new Change.Start(
                            inQueue("run-%d-%d".formatted(key, i)).withQueueKey("key-" + key), null);
                    int lane = i;
                    starts.add(threads.submit(() -> store.ledger().apply(Lane.client(lane), List.of(start))));
                }
            }
            for (Future<?> start : starts) {
                start.get();
            }
        }
        assertThat(TestServer.query("SELECT DISTINCT count(*) FROM %s.run GROUP BY queue_key".formatted(schema)))
                .isEqualTo(String.valueOf(MOST_OF_A_KEY));
    }

    private static NewRun inQueue(String id) {
        NewRun run = newRun(id);
        return new NewRun(run.id(), run.definition(), run.input(), run.seed(), "narrow", 0, null, null);
    }

    private static Store freshStore(Supplier<Instant> time) {
        return PostgresStore.on(pool)
                .schema(TestServer.schemaOf(OtherDefaultsIT.class))
                .notifications(false)
                .time(time)
                .open();
    }

    @Nested
    final class FullKeys extends FullKeyConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    @Tag("thorough") // the tests above fail for the same reason
    final class StartKeys extends StartKeyConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    @Tag("thorough") // the tests above fail for the same reason
    final class Retrying extends RetryConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }

    @Nested
    @Tag("thorough") // the tests above fail for the same reason
    final class Racing extends RaceConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(time);
        }
    }
}
