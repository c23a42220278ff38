package dev.perdure.postgres;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.conformance.dag.TaskConformance;
import dev.perdure.spi.Store;
import java.time.Instant;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.postgresql.ds.PGSimpleDataSource;
import org.postgresql.jdbc.AutoSave;

/**
 * With a driver that puts a savepoint before statements of a transaction ({@code autosave} in its URL), so that rows
 * have the number of a part of their transaction.
 */
final class AutosaveIT {
    private static final String SCHEMA = TestServer.newSchema();

    private static HikariDataSource always;
    private static HikariDataSource conservative;

    @BeforeAll
    static void open() {
        always = pool(AutoSave.ALWAYS);
        conservative = pool(AutoSave.CONSERVATIVE);
        PostgresStore.on(always).schema(SCHEMA).notifications(false).open().close();
    }

    @AfterAll
    static void close() {
        always.close();
        conservative.close();
    }

    private static HikariDataSource pool(AutoSave mode) {
        PGSimpleDataSource source = TestServer.plain();
        source.setAutosave(mode);
        return TestServer.pool(source, 7);
    }

    private static PostgresStore freshStore(HikariDataSource pool, Supplier<Instant> time) {
        TestServer.empty(SCHEMA);
        return PostgresStore.on(pool)
                .schema(SCHEMA)
                .notifications(false)
                .time(time)
                .open();
    }

    @Nested
    final class TasksWithSavepointsAlways extends TaskConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(always, time);
        }
    }

    @Nested
    @Tag("thorough")
    final class TasksWithSavepointsWherePlansMayBeStale extends TaskConformance {
        @Override
        protected Store open(Supplier<Instant> time) {
            return freshStore(conservative, time);
        }
    }
}
