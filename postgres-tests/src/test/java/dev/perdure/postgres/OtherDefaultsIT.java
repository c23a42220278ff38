package dev.perdure.postgres;

import static dev.perdure.postgres.StoreFixture.newRun;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.conformance.RaceConformance;
import dev.perdure.conformance.StartKeyConformance;
import dev.perdure.conformance.operation.RetryConformance;
import dev.perdure.conformance.queue.FullKeyConformance;
import dev.perdure.error.StoreException;
import dev.perdure.queue.Queue;
import dev.perdure.spi.Store;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.NewRun;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
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

/**
 * Limits hold on a database, a role or a pool whose transactions have another isolation level by default, and where a
 * backslash in a text is not itself.
 */
final class OtherDefaultsIT {
    private static final int KEYS = 30;
    private static final int STARTS_OF_A_KEY = 6;
    private static final int MOST_OF_A_KEY = 2;

    private static HikariDataSource pool;

    @BeforeAll
    static void openPool() {
        PGSimpleDataSource source = TestServer.plain();
        source.setOptions("-c default_transaction_isolation=repeatable\\ read -c standard_conforming_strings=off");
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
                    starts.add(threads.submit(() -> applyPatiently(store, Lane.client(lane), start)));
                }
            }
            for (Future<?> start : starts) {
                start.get();
            }
        }
        assertThat(TestServer.query("SELECT DISTINCT count(*) FROM %s.run GROUP BY queue_key".formatted(schema)))
                .isEqualTo(String.valueOf(MOST_OF_A_KEY));
    }

    @Test
    void functions_for_sql_read_their_own_texts_as_they_were_written() throws Exception {
        String schema = TestServer.newSchema();
        PostgresStore.on(pool).schema(schema).notifications(false).open().close();
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            try (ResultSet row = statement.executeQuery(
                    "SELECT %s.payload_json(convert_to('{\"a\":1}', 'UTF8'))::text".formatted(schema))) {
                row.next();
                assertThat(row.getString(1)).isEqualTo("{\"a\":1}");
            }
        }
        assertThat(TestServer.query("""
                        SELECT oid::regprocedure FROM pg_proc WHERE pronamespace = '%s'::regnamespace AND strpos(regexp_replace(prosrc, 'E''[^'']*''', '', 'g'), chr(92)) > 0
                        AND NOT COALESCE('standard_conforming_strings=on' = ANY (proconfig), false)""".formatted(schema)))
                .as("functions whose texts have a backslash need SET standard_conforming_strings = on")
                .isEmpty();
    }

    /** On a slow machine it may find the key locked for too long, and is sent again, as the engine does. */
    private static void applyPatiently(Store store, Lane lane, Change start) {
        while (true) {
            try {
                store.ledger().apply(lane, List.of(start));
                return;
            } catch (StoreException locked) {
                assertThat(locked.kind()).isEqualTo(StoreException.Kind.UNAVAILABLE);
            }
        }
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
