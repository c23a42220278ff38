package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.RunFilter;
import dev.perdure.reaction.Occasion;
import dev.perdure.reaction.ReactionInfo;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Change.CommandKind;
import dev.perdure.spi.change.Lane;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Reactions where several processes share a database. */
final class PostgresReactionIT {
    private static final Duration LATE = Duration.ofMinutes(10);

    private final AtomicReference<Instant> now = new AtomicReference<>(Instant.parse("2026-01-01T00:00:00Z"));
    private final String schema = TestServer.schemaOf(PostgresReactionIT.class);
    private HikariDataSource pool;
    private PostgresStore store;

    @BeforeEach
    void open() {
        pool = TestServer.pool(8);
        store = another();
    }

    @AfterEach
    void close() {
        store.close();
        pool.close();
    }

    private PostgresStore another() {
        return PostgresStore.on(pool)
                .schema(schema)
                .notifications(false)
                .time(now::get)
                .open();
    }

    private void advance(Duration duration) {
        now.updateAndGet(time -> time.plus(duration));
    }

    private static ReactionInfo reaction(Optional<Duration> late, Occasion... occasions) {
        return new ReactionInfo("alert", Set.of(occasions), late, Set.of(), "raise", "default", Optional.empty());
    }

    private static void start(PostgresStore through, String... ids) {
        through.ledger()
                .apply(
                        Lane.client(0),
                        List.of(ids).stream()
                                .<Change>map(id -> new Change.Start(StoreFixture.newRun(id), null))
                                .toList());
    }

    private List<String> alerts() {
        StoreFixture worker = new StoreFixture(store);
        for (int i = 0; i < 4; i++) {
            store.dispatch().poll(worker.poll(0));
        }
        return store.runs().list(RunFilter.all().definition("raise").limit(1_000)).stream()
                .map(info -> info.id().value().replaceFirst("#\\d+\\.", "#"))
                .sorted()
                .toList();
    }

    @Test
    void a_process_that_never_heard_of_a_reaction_requests_its_run() {
        try (PostgresStore client = another()) {
            store.reactions().declare(List.of(reaction(Optional.empty(), Occasion.PAUSED)));
            start(client, "a");
            client.ledger()
                    .apply(
                            Lane.client(0),
                            List.of(new Change.Command(StoreFixture.newRun("a").id(), CommandKind.PAUSE, "wait")));
            assertThat(alerts()).containsExactly("reaction:alert:a#1");
        }
    }

    @Test
    void the_request_is_part_of_the_transaction_of_the_change() {
        store.reactions().declare(List.of(reaction(Optional.empty(), Occasion.CANCELLED)));
        start(store, "a");
        store.ledger()
                .apply(
                        Lane.client(0),
                        List.of(new Change.Command(StoreFixture.newRun("a").id(), CommandKind.KILL, "gone")));
        assertThat(TestServer.query("SELECT (SELECT xmin::text FROM %1$s.inbox) = (SELECT xmin::text FROM %1$s.run)"
                        .formatted(schema)))
                .isEqualTo("t");
    }

    @Test
    void a_run_whose_start_commits_late_is_found_a_minute_later() {
        store.reactions().declare(List.of(reaction(Optional.of(LATE), Occasion.LATE)));
        start(store, "a");
        advance(Duration.ofMinutes(5));
        start(store, "b");
        advance(LATE);
        assertThat(alerts()).containsExactly("reaction:alert:a#late", "reaction:alert:b#late");
        start(store, "c");
        TestServer.execute("UPDATE %s.run SET created_at = '2026-01-01T00:04:30Z' WHERE id = 'c'".formatted(schema));
        assertThat(alerts()).hasSize(2);
        advance(Duration.ofSeconds(30));
        assertThat(alerts()).containsExactly("reaction:alert:a#late", "reaction:alert:b#late", "reaction:alert:c#late");
    }

    @Test
    void workers_that_look_at_the_same_time_request_one_run_each() throws Exception {
        int count = 300;
        store.reactions().declare(List.of(reaction(Optional.of(LATE), Occasion.LATE)));
        start(store, IntStream.range(0, count).mapToObj(i -> "run-" + i).toArray(String[]::new));
        advance(LATE);
        List<StoreFixture> workers = List.of(
                new StoreFixture(store), new StoreFixture(store), new StoreFixture(store), new StoreFixture(store));
        try (ExecutorService threads = Executors.newFixedThreadPool(workers.size())) {
            List<Callable<Object>> polls = new ArrayList<>();
            workers.forEach(worker -> polls.add(() -> store.dispatch().poll(worker.poll(0))));
            for (Future<Object> poll : threads.invokeAll(polls)) {
                poll.get();
            }
        }
        assertThat(TestServer.query("SELECT count(*) = count(DISTINCT id) FROM %s.inbox".formatted(schema)))
                .isEqualTo("t");
        assertThat(alerts()).hasSize(count);
    }

    @Test
    void a_reaction_is_shown_in_sql() {
        store.reactions().declare(List.of(reaction(Optional.of(LATE), Occasion.LATE, Occasion.FAILED)));
        assertThat(TestServer.query(
                        "SELECT name || ' ' || states::text || ' ' || late || ' ' || starts FROM %s.reactions"
                                .formatted(schema)))
                .isEqualTo("alert {FAILED} 00:10:00 raise");
    }
}
