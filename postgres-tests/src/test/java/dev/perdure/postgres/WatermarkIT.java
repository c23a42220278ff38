package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.RunId;
import dev.perdure.postgres.hint.PostgresHints;
import dev.perdure.postgres.inbox.InboxReader;
import dev.perdure.postgres.jdbc.Connections;
import dev.perdure.postgres.jdbc.Database;
import dev.perdure.postgres.jdbc.Schema;
import dev.perdure.postgres.lane.Backends;
import dev.perdure.postgres.lane.LeaseSql;
import dev.perdure.postgres.lane.Workers;
import dev.perdure.postgres.limiter.PostgresPermits;
import dev.perdure.postgres.queue.PostgresQueues;
import dev.perdure.postgres.reaction.PostgresReactions;
import dev.perdure.postgres.work.LateRuns;
import dev.perdure.postgres.work.LimitedClaims;
import dev.perdure.postgres.work.Placements;
import dev.perdure.postgres.work.PostgresDispatch;
import dev.perdure.postgres.work.StartLimits;
import dev.perdure.postgres.work.Watermark;
import dev.perdure.postgres.write.PostgresLedger;
import dev.perdure.postgres.write.change.Keys;
import dev.perdure.postgres.write.part.LedgerSql;
import dev.perdure.queue.Queue;
import dev.perdure.spi.Dispatch;
import dev.perdure.spi.Dispatch.Poll;
import dev.perdure.spi.Leases.Joining;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.NewRun;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Claims that begin where the last one stopped pass over what is older, and over nothing else. */
final class WatermarkIT {
    private static final long TEN_SECONDS = 10_000_000;
    private static final List<String> ANY_VERSION = List.of("");

    @Test
    void what_is_urgent_is_claimed_although_it_comes_before_the_floor() throws Exception {
        String name = TestServer.newSchema();
        try (HikariDataSource pool = TestServer.pool(3);
                PostgresStore store =
                        PostgresStore.on(pool).schema(name).notifications(false).open()) {
            Schema schema = new Schema(name);
            Database database = new Database(Connections.from(pool, 3), () -> null);
            Workers workers = new Workers(database, new LeaseSql(schema), new Backends(schema, System::nanoTime));
            StoreFixture fixture = new StoreFixture(store);
            workers.join(new Joining(fixture.worker, Set.of("order"), null, Duration.ofMinutes(10), 4));
            PostgresQueues queues = new PostgresQueues(database, schema);
            LedgerSql ledgerSql = new LedgerSql(schema);
            PostgresLedger ledger = new PostgresLedger(
                    database,
                    schema,
                    ledgerSql,
                    new Keys(schema, database),
                    workers,
                    queues,
                    new PostgresHints(),
                    true);
            Watermark watermark = new Watermark();
            PostgresDispatch dispatch = new PostgresDispatch(
                    database,
                    schema,
                    ledgerSql,
                    workers,
                    new LimitedClaims(
                            database,
                            schema,
                            ledgerSql,
                            workers,
                            queues,
                            new Placements(database, schema, ledgerSql, ledger),
                            true),
                    new PostgresPermits(database, schema, ledgerSql, workers, new PostgresHints()),
                    new InboxReader(database, schema, ledger),
                    new StartLimits(database, schema, ledger),
                    new LateRuns(
                            database,
                            new PostgresReactions(database, ledgerSql.reactions, ledgerSql.settings),
                            new PostgresHints()),
                    ledger,
                    watermark,
                    new PostgresHints());
            store.ledger()
                    .apply(
                            Lane.client(0),
                            List.of(
                                    new Change.Start(run("older", 0), null),
                                    new Change.Start(run("urgent", 5), null),
                                    new Change.Start(run("lesser", -5), null)));
            Poll poll = fixture.poll(10);
            slowUntil(watermark, poll, new Watermark.Floor(~0, Instant.now().plusSeconds(60), true));

            assertThat(claimed(dispatch, poll)).containsExactly("urgent", "lesser");
            watermark.saw(poll, ANY_VERSION, Watermark.Floor.BEGINNING, null, 0, 0); // as after a quick full look
            assertThat(claimed(dispatch, poll)).containsExactly("older");
        }
    }

    @Test
    void a_limited_queue_leaves_no_older_run_behind_while_places_are_free() throws Exception {
        String name = TestServer.newSchema();
        try (HikariDataSource pool = TestServer.pool(3);
                PostgresStore store =
                        PostgresStore.on(pool).schema(name).notifications(false).open()) {
            store.queues().declare(List.of(Queue.named("default").concurrency(2)));
            StoreFixture fixture = new StoreFixture(store);
            store.ledger()
                    .apply(
                            Lane.client(0),
                            List.of(
                                    new Change.Start(run("first", 5), null),
                                    new Change.Start(run("second", 5), null),
                                    new Change.Start(run("older", 0), null)));
            assertThat(ids(store.dispatch().poll(fixture.poll(10)))).containsExactly("first", "second");
            try (Connection connection = pool.getConnection();
                    Statement statement = connection.createStatement()) {
                // As if the start of 'older' had committed much later than it began, and both places were free again.
                statement.execute("UPDATE %s.ready SET since = since - interval '1 hour', rank = ~5".formatted(name));
                statement.execute("UPDATE %s.run SET state = 6, owner = NULL WHERE id <> 'older'".formatted(name));
            }

            assertThat(ids(store.dispatch().poll(fixture.poll(10)))).containsExactly("older");
        }
    }

    @Test
    void a_claim_that_waited_for_a_lock_does_not_put_off_the_next_look_from_the_beginning() throws Exception {
        String name = TestServer.newSchema();
        try (HikariDataSource pool = TestServer.pool(4);
                PostgresStore store =
                        PostgresStore.on(pool).schema(name).notifications(false).open();
                Connection other = pool.getConnection();
                Statement statement = other.createStatement()) {
            store.queues().declare(List.of(Queue.named("default").concurrency(1)));
            Poll poll = new StoreFixture(store).poll(10);
            start(store, "first");
            start(store, "older");
            List<String> first = List.of();
            while (first.isEmpty()) { // It may have waited for longer than claims wait.
                first = claimedBehindALock(store, poll, statement, name);
            }
            statement.execute("UPDATE %s.ready SET since = since - interval '1 hour'".formatted(name));
            long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(3);
            List<String> claimed = new ArrayList<>();
            while (!claimed.contains("older") && System.nanoTime() - until < 0) {
                start(store, "newer-" + claimed.size());
                statement.execute("UPDATE %s.run SET state = 6, owner = NULL WHERE state = 2".formatted(name));
                claimed.addAll(ids(store.dispatch().poll(poll)));
            }

            assertThat(claimed).contains("older");
        }
    }

    /** A poll that waits for a while until another transaction unlocks the queue. */
    private static List<String> claimedBehindALock(PostgresStore store, Poll poll, Statement other, String schema)
            throws Exception {
        other.execute("BEGIN; SELECT FROM %s.queue FOR UPDATE".formatted(schema));
        CompletableFuture<List<String>> claimed =
                CompletableFuture.supplyAsync(() -> ids(store.dispatch().poll(poll)));
        String waits = """
                SELECT count(*) FROM pg_stat_activity
                WHERE wait_event_type = 'Lock' AND query LIKE '%%%s.%%' AND query_start < clock_timestamp() - interval '200 ms'
                """.formatted(schema);
        await().pollInterval(Duration.ofMillis(10))
                .until(() -> claimed.isDone() || !TestServer.query(waits).equals("0"));
        other.execute("ROLLBACK");
        return claimed.get();
    }

    private static void start(PostgresStore store, String id) {
        store.ledger().apply(Lane.client(0), List.of(new Change.Start(run(id, 0), null)));
    }

    private static List<String> ids(Dispatch.Polled polled) {
        return polled.claimed().stream()
                .map(claimed -> claimed.run().id().toString())
                .toList();
    }

    private static void slowUntil(Watermark watermark, Poll poll, Watermark.Floor reached) {
        while (watermark.floor(poll, ANY_VERSION).equals(Watermark.Floor.BEGINNING)) {
            watermark.saw(poll, ANY_VERSION, Watermark.Floor.BEGINNING, reached, 1, TEN_SECONDS);
        }
    }

    private static List<String> claimed(PostgresDispatch dispatch, Poll poll) {
        return dispatch.poll(poll).claimed().stream()
                .map(claimed -> claimed.run().id().toString())
                .toList();
    }

    private static NewRun run(String id, int priority) {
        NewRun plain = StoreFixture.newRun(id);
        return new NewRun(
                RunId.of(id), plain.definition(), plain.input(), plain.seed(), plain.queue(), priority, null, null);
    }
}
