package dev.perdure.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.data.Percentage.withPercentage;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.RunFilter;
import dev.perdure.RunState;
import dev.perdure.spi.statistics.Statistics.Histogram;
import dev.perdure.spi.statistics.Statistics.Span;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** Of many runs, a histogram counts a sample. */
final class HistogramIT {
    /** Runs of ten hours: in the second half three times as many as in the first. One of ten has failed. */
    private static final String GENERATED = """
            INSERT INTO %s.run (key, seed, epoch, created_at, changed_at, priority, partition, state, id, definition, queue)
            SELECT i * 256, i, 1, at, at + interval '1 second', 0, 0, CASE WHEN i %% 10 = 0 THEN 7 ELSE 6 END, 'run-' || i,
                   'definition-' || i %% 20, 'default'
            FROM (
                SELECT i, timestamptz '2030-01-01T00:00:00Z'
                          + CASE WHEN i <= 12500 THEN i * interval '1440 ms' ELSE interval '5 hours' + (i - 12500) * interval '480 ms' END AS at
                FROM generate_series(1::bigint, 49999) AS i
            ) AS generated
            """;

    @Test
    void many_runs_are_estimated_and_few_are_counted() {
        String schema = TestServer.newSchema();
        try (HikariDataSource pool = TestServer.pool(3);
                PostgresStore store = PostgresStore.on(pool)
                        .schema(schema)
                        .notifications(false)
                        .open()) {
            TestServer.execute(GENERATED.formatted(schema));
            TestServer.execute("ANALYZE " + schema + ".run");
            Instant from = Instant.parse("2030-01-01T00:00:00Z");
            Span span = new Span(from, from.plusSeconds(36_000), 10, false);

            Histogram many = store.statistics().histogram(RunFilter.all(), span);
            assertThat(many.sampled()).isBetween(0.05, 0.2);
            for (int bar = 0; bar < 10; bar++) {
                assertThat(sum(many, bar)).as("bar %d", bar).isCloseTo(bar < 5 ? 2_500 : 7_500, withPercentage(10));
                assertThat(many.bars().get(bar).get(RunState.FAILED))
                        .as("failed in bar %d", bar)
                        .isCloseTo(bar < 5 ? 250 : 750, withPercentage(40));
            }
            Histogram few = store.statistics().histogram(RunFilter.all().definition("definition-3"), span);
            assertThat(few.sampled()).isEqualTo(1);
            assertThat(sum(few, 0)).isEqualTo(125);
            assertThat(sum(few, 9)).isEqualTo(375);
            Histogram ended =
                    store.statistics().histogram(RunFilter.all(), new Span(from, from.plusSeconds(36_001), 1, true));
            assertThat(ended.more()).isTrue();
            assertThat(sum(ended, 0)).isEqualTo(40_001);
        }
    }

    private static long sum(Histogram histogram, int bar) {
        return histogram.bars().get(bar).values().stream()
                .mapToLong(Long::longValue)
                .sum();
    }
}
