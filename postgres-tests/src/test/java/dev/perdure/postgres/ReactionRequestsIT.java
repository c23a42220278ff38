package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.reaction.Occasion;
import dev.perdure.reaction.ReactionInfo;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Whatever a batch, a poll or a sweep does: each time that a run fails, is paused or cancelled requests one run of a
 * reaction, and nothing else does. The history of the runs is compared with what was requested after random batches.
 */
final class ReactionRequestsIT {
    private static final int BATCHES = 40;
    private static final Instant BEGINNING = Instant.parse("2026-01-01T00:00:00Z");

    private static final String OCCASIONS = """
            SELECT string_agg(o.id, ' ' ORDER BY o.id COLLATE "C") FROM (
                SELECT 'reaction:all:' || r.id || '#' || r.key || '.' || e.number AS id
                FROM %1$s.events e JOIN %1$s.run r ON r.id = e.id
                WHERE e.state IN ('FAILED', 'PAUSED', 'CANCELLED') AND r.definition <> 'raise'
            ) AS o
            """;

    private static final String REQUESTED = """
            SELECT string_agg(q.id, ' ' ORDER BY q.id COLLATE "C") FROM (
                SELECT id FROM %1$s.inbox WHERE definition = 'raise' UNION ALL SELECT id FROM %1$s.run WHERE definition = 'raise'
            ) AS q
            """;

    private static final AtomicReference<Instant> NOW = new AtomicReference<>(BEGINNING);
    private static final String SCHEMA = TestServer.newSchema();
    private static HikariDataSource pool;
    private static Twin store;

    @BeforeAll
    static void open() {
        pool = TestServer.pool(8);
        store = new Twin(pool, SCHEMA, NOW::get, true);
    }

    @AfterAll
    static void close() {
        store.store.close();
        pool.close();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void each_change_of_every_run_requests_one_run(long seed) {
        NOW.set(BEGINNING);
        store.empty();
        store.store
                .reactions()
                .declare(List.of(new ReactionInfo(
                        "all",
                        Set.of(Occasion.FAILED, Occasion.PAUSED, Occasion.CANCELLED),
                        Optional.empty(),
                        Set.of(),
                        "raise",
                        "alerts",
                        Optional.empty())));
        Random random = new Random(seed);
        RandomBatches batches = new RandomBatches(random);
        List<String> history = new ArrayList<>();
        for (int i = 0; i < BATCHES; i++) {
            NOW.updateAndGet(now -> now.plus(Duration.ofSeconds(1 + random.nextInt(60))));
            RandomBatches.Round round = batches.next(store.runs().stream()
                    .filter(run -> !run.id().startsWith("reaction:"))
                    .toList());
            history.add(round.toString());
            store.play(round);
            assertRequested("seed %d, %s".formatted(seed, String.join("\n", history)));
        }
        store.store.leases().leave(Twin.WORKER);
        while (!store.store.leases().sweep(100).isEmpty()) {
            assertRequested("seed %d, after a sweep".formatted(seed));
        }
        assertRequested("seed %d, after all sweeps".formatted(seed));
    }

    private static void assertRequested(String by) {
        assertThat(TestServer.query(REQUESTED.formatted(SCHEMA)))
                .as(by)
                .isEqualTo(TestServer.query(OCCASIONS.formatted(SCHEMA)));
    }
}
