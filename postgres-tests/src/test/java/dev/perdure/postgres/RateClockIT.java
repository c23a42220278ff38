package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.queue.Limiter;
import dev.perdure.queue.Queue;
import dev.perdure.spi.Dispatch.Claimed;
import dev.perdure.spi.Permits.Answer;
import dev.perdure.spi.Permits.Request;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.RunRef;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What begins counts for its rate from when it begins, and not from when its claim began to wait for a lock. */
final class RateClockIT {
    private static final Executor VIRTUAL = task -> Thread.ofVirtual().start(task);

    private String schema;
    private HikariDataSource pool;
    private PostgresStore store;
    private StoreFixture fixture;

    @BeforeEach
    void open() {
        schema = TestServer.schemaOf(RateClockIT.class);
        pool = TestServer.pool(5);
        store = PostgresStore.on(pool).schema(schema).notifications(false).open();
        fixture = new StoreFixture(store);
    }

    @AfterEach
    void close() {
        store.close();
        pool.close();
    }

    @Test
    void runs_whose_claim_waited_for_the_queue_count_from_when_they_begin() throws Exception {
        store.queues()
                .declare(List.of(
                        Queue.named("default").rate(1, Duration.ofSeconds(5)).ratePerKey(1, Duration.ofSeconds(5))));
        fixture.apply(new Change.Start(StoreFixture.newRun("a").withQueueKey("k"), null));
        fixture.apply(new Change.Start(StoreFixture.newRun("b"), null));

        Instant free = whileLocked(
                "queue",
                "default",
                () -> store.dispatch().poll(fixture.poll(10)).claimed(),
                RateClockIT::hasOne);

        assertThat(countedUntil("queue_rate")).isAfterOrEqualTo(free.plusSeconds(5));
        assertThat(store.dispatch().poll(fixture.poll(10)).claimed()).isEmpty();
    }

    @Test
    void attempts_whose_request_waited_for_the_limiter_count_from_when_they_begin() throws Exception {
        store.permits().declare(List.of(Limiter.named("stripe").rate(1, Duration.ofSeconds(5))));
        RunRef run = fixture.start("a");

        Instant free = whileLocked(
                "limiter",
                "stripe",
                () -> store.permits().take(fixture.worker, List.of(new Request("stripe", run, 1, 1, 1))),
                answers -> assertThat(answers).containsExactly(Answer.HELD));

        assertThat(countedUntil("limiter_rate")).isAfterOrEqualTo(free.plusSeconds(5));
    }

    private static void hasOne(List<Claimed> claimed) {
        assertThat(claimed).hasSize(1);
    }

    /** Lets an action wait for a row for a tenth of a second; returns when the row was free again. */
    private <T> Instant whileLocked(String table, String name, Supplier<T> action, Consumer<T> expected)
            throws Exception {
        try (Connection other = TestServer.plain().getConnection();
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute("SELECT FROM %s.%s WHERE name = '%s' FOR UPDATE".formatted(schema, table, name));
            CompletableFuture<T> waits = CompletableFuture.supplyAsync(action, VIRTUAL);
            TestServer.awaitBlocked();
            statement.execute("SELECT pg_sleep(0.1)");
            Instant free;
            try (ResultSet row = statement.executeQuery("SELECT clock_timestamp()")) {
                row.next();
                free = row.getObject(1, OffsetDateTime.class).toInstant();
            }
            other.commit();
            expected.accept(waits.get(5, TimeUnit.SECONDS));
            return free;
        }
    }

    private Instant countedUntil(String table) {
        return Instant.parse(TestServer.query(
                "SELECT to_char(min(expires_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"') FROM %s.%s"
                        .formatted(schema, table)));
    }
}
