package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.retention.Retention;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Removals.Removed;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.RunRef;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How long a batch of retention holds its locks, however large the runs are that it removes. */
final class RetentionLockIT {
    private static final Duration DAY = Duration.ofDays(1);
    private static final int SMALL = 3_000;
    private static final int LARGE = 100;
    private static final int STEPS = 1_000;

    private final String schema = TestServer.schemaOf(RetentionLockIT.class);
    private final HikariDataSource pool = TestServer.pool(6);
    private final AtomicReference<Instant> now = new AtomicReference<>(Instant.parse("2026-01-01T00:00:00Z"));
    private final PostgresStore store = PostgresStore.on(pool)
            .schema(schema)
            .notifications(false)
            .time(now::get)
            .open();
    private final StoreFixture fixture = new StoreFixture(store);

    @AfterEach
    void close() {
        store.close();
        pool.close();
    }

    /** The small runs come first, so that batches have become large when the large runs come. */
    @Test
    void a_batch_is_short_although_runs_with_large_journals_follow_small_ones() throws Exception {
        store.removals().declare(Retention.of(DAY));
        complete(start("small", SMALL));
        now.updateAndGet(time -> time.plusSeconds(1));
        List<RunRef> large = start("large", LARGE);
        for (RunRef run : large) {
            fixture.apply(new Change.Advance(
                    run,
                    1,
                    IntStream.rangeClosed(1, STEPS).mapToObj(StoreFixture::step).toList(),
                    new Move.Stay()));
        }
        complete(large);
        now.updateAndGet(time -> time.plus(DAY));

        List<Long> micros = new ArrayList<>();
        long before = rows();
        long most = 0;
        int runs = 0;
        Removed removed;
        do {
            long began = System.nanoTime();
            removed = store.removals().remove(1_000);
            micros.add((System.nanoTime() - began) / 1_000);
            runs += removed.runs();
            long after = rows();
            most = Math.max(most, before - after);
            before = after;
        } while (removed.again().isZero());
        micros.sort(null);
        System.out.printf(
                "retention: %d runs in %d batches, the longest %.1f ms, half of them below %.1f ms, %d rows at most%n",
                runs, micros.size(), micros.getLast() / 1e3, micros.get(micros.size() / 2) / 1e3, most);
        assertThat(runs).isEqualTo(SMALL + LARGE);
        assertThat(most).as("rows that a batch deletes").isLessThan(12_000);
    }

    private List<RunRef> start(String prefix, int count) {
        List<Change> starts = IntStream.range(0, count)
                .<Change>mapToObj(i -> new Change.Start(StoreFixture.newRun(prefix + i), fixture.worker))
                .toList();
        return fixture.apply(starts).stream()
                .map(outcome -> ((Outcome.Started) outcome).run())
                .toList();
    }

    private void complete(List<RunRef> runs) {
        fixture.apply(runs.stream().<Change>map(StoreFixture::complete).toList());
    }

    private long rows() throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(
                        "SELECT (SELECT count(*) FROM %1$s.journal) + (SELECT count(*) FROM %1$s.event) + (SELECT count(*) FROM %1$s.run)"
                                .formatted(schema))) {
            row.next();
            return row.getLong(1);
        }
    }
}
