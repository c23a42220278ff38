package dev.perdure.benchmarks.perdure;

import dev.perdure.benchmarks.measure.Load;
import dev.perdure.benchmarks.measure.Task;
import dev.perdure.benchmarks.report.Unit;
import dev.perdure.benchmarks.workload.StepRunner;
import dev.perdure.retention.Retention;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Runs that are removed soon after their end, beside the same runs that are kept: how much slower the work is, and
 * whether the database stops growing. Prints the sizes of tables with their indexes from time to time.
 */
public final class PerdureRetention {
    private static final int CALLERS = 64;
    private static final int STEPS = 10;

    /** The largest tables with their indexes, and all of them together. */
    private static final String SIZES = """
            SELECT string_agg(relname || ' ' || pg_size_pretty(size), ', ' ORDER BY size DESC) FILTER (WHERE place <= 5)
                   || ', all ' || pg_size_pretty(sum(size))
            FROM (
                SELECT relname, pg_total_relation_size(oid) AS size,
                       row_number() OVER (ORDER BY pg_total_relation_size(oid) DESC) AS place
                FROM pg_class
                WHERE relnamespace = 'perdure'::regnamespace AND relkind = 'r'
            ) AS tables
            """;

    private static final String SIZE = """
            SELECT sum(pg_total_relation_size(oid))::bigint FROM pg_class
            WHERE relnamespace = 'perdure'::regnamespace AND relkind = 'r'
            """;

    private final Task task;

    private PerdureRetention(Task task) {
        this.task = task;
    }

    /** Measures the workload. */
    public static void measure(Task task) throws Exception {
        PerdureRetention measurement = new PerdureRetention(task);
        measurement.kept();
        measurement.removed();
    }

    /** The rate of runs that stay. They are removed while the rest is measured. */
    private void kept() throws Exception {
        task.results().progress("retention.kept");
        try (StepRunner runner = PerdureSteps.open(task.database())) {
            Load.of(CALLERS, task.scale().warmUp(), () -> runner.run(STEPS));
            Duration time = task.scale().choose(Duration.ofMinutes(1), Duration.ofSeconds(10), Duration.ofMillis(50));
            Load load = Load.of(CALLERS, time, () -> runner.run(STEPS));
            task.results().figure("retention.kept.rate", Unit.PER_SECOND, load.perSecond());
        }
    }

    private void removed() throws Exception {
        long wanted = task.scale().choose(2_000_000L, 20_000L, 10L);
        Duration period = task.scale().choose(Duration.ofMinutes(1), Duration.ofSeconds(5), Duration.ofSeconds(1));
        Duration part = period.dividedBy(task.scale().choose(2, 1, 20));
        List<Long> sizes = new ArrayList<>();
        long runs = 0;
        long began = System.nanoTime();
        try (StepRunner runner = PerdureSteps.open(task.database(), Retention.of(period))) {
            while (runs < wanted) {
                runs += Load.of(CALLERS, part, () -> runner.run(STEPS)).operations();
                sizes.add(size());
                task.results().progress(String.format(Locale.ROOT, "retention: %,d runs; %s", runs, sizesInWords()));
            }
        }
        double seconds = (System.nanoTime() - began) / 1e9;
        task.results().figure("retention.rate", Unit.PER_SECOND, runs / seconds);
        task.results().figure("retention.size", Unit.BYTES, sizes.getLast());
        task.results()
                .figure("retention.growth", Unit.RATIO, (double) sizes.getLast() / sizes.get(sizes.size() * 2 / 3));
    }

    private long size() throws SQLException {
        return task.database().number(SIZE);
    }

    private String sizesInWords() throws SQLException {
        return task.database().text(SIZES);
    }
}
