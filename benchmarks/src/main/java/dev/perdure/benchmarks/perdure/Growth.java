package dev.perdure.benchmarks.perdure;

import dev.perdure.benchmarks.cost.Metered;
import dev.perdure.benchmarks.measure.Burst;
import dev.perdure.benchmarks.measure.Load;
import dev.perdure.benchmarks.measure.Rounds;
import dev.perdure.benchmarks.measure.Task;
import dev.perdure.benchmarks.report.Unit;
import dev.perdure.benchmarks.server.BenchDatabase;
import dev.perdure.benchmarks.workload.StepRunner;
import java.sql.SQLException;
import java.time.Duration;

/**
 * W7: the same work in an empty database, and in one with millions of finished runs. It writes those runs with SQL, in
 * the form that runs of one step leave, because running them would take as long as the whole benchmark.
 */
public final class Growth {
    private static final int CALLERS = 64;
    private static final int STEPS = 100;
    private static final long PER_INSERT = 500_000;

    private record Round(Metered<Load> runs, Metered<Burst> steps) {
        double runRate() {
            return runs.result().perSecond();
        }

        double stepRate() {
            return steps.result().perSecond() * STEPS;
        }
    }

    private Growth() {}

    /** Measures the workload. */
    public static void measure(Task task) throws Exception {
        long count = task.scale().choose(5_000_000L, 200_000L, 1_000L);
        task.results().progress("w7 empty");
        Rounds<Round> empty = rounds(task);
        task.results().progress("w7: writing %,d finished runs".formatted(count));
        fill(task.database(), count);
        task.results().progress("w7 full");
        Rounds<Round> full = rounds(task);
        report("empty", empty);
        report("full", full);
        task.results().figure("w7.w1.ratio", Unit.RATIO, full.median(Round::runRate) / empty.median(Round::runRate));
        task.results().figure("w7.w2.ratio", Unit.RATIO, full.median(Round::stepRate) / empty.median(Round::stepRate));
    }

    private static Rounds<Round> rounds(Task task) throws Exception {
        try (StepRunner runner = PerdureSteps.open(task.database())) {
            Load.of(CALLERS, task.scale().warmUp(), () -> runner.run(1));
            return Rounds.of(task, () -> round(task, runner));
        }
    }

    private static Round round(Task task, StepRunner runner) throws Exception {
        Duration time = task.scale().round();
        return new Round(
                task.meter().measure(() -> Load.of(CALLERS, time, () -> runner.run(1))),
                task.meter().measure(() -> Burst.during(time, CALLERS, () -> runner.run(STEPS))));
    }

    private static void report(String state, Rounds<Round> rounds) {
        rounds.figure("w7.w1." + state, Unit.PER_SECOND, Round::runRate);
        rounds.cost(
                "w7.w1." + state,
                round -> round.runs().cost().per(round.runs().result().operations()));
        rounds.figure("w7.w2." + state, Unit.PER_SECOND, Round::stepRate);
        rounds.cost(
                "w7.w2." + state,
                round -> round.steps().cost().per(round.steps().result().count() * STEPS));
    }

    /** Takes blocks of keys for the runs, so that they do not collide with other runs. */
    private static void fill(BenchDatabase database, long count) throws SQLException {
        long block = database.number("SELECT setval('perdure.key_block', nextval('perdure.key_block') + %d / 65536 + 2)"
                        .formatted(count))
                - count / 65_536
                - 1;
        for (long from = 0; from < count; from += PER_INSERT) {
            database.execute(FILL, (block << 24) + (from << 8), Math.min(PER_INSERT, count - from));
        }
        database.execute("VACUUM (FREEZE, ANALYZE) perdure.run");
        database.execute("VACUUM (FREEZE, ANALYZE) perdure.journal");
        database.execute("VACUUM (FREEZE, ANALYZE) perdure.event");
        database.execute("CHECKPOINT");
    }

    private static final String FILL = """
            WITH made AS MATERIALIZED (
                SELECT ? + (n << 8) + (n & 255) AS key, now() - interval '1 day' + n * interval '1 millisecond' AS at
                FROM generate_series(0, ? - 1) AS n
            ), runs AS (
                INSERT INTO perdure.run (key, seed, epoch, created_at, changed_at, changes, priority, partition, state, id,
                    definition, queue)
                SELECT key, key, 1, at, at, 1, 0, key & 255, 6, 'done-' || key, 'steps', 'default' FROM made
            ), events AS (
                INSERT INTO perdure.event (key, number, partition, state, at) SELECT key, 0, key & 255, 2, at FROM made
            )
            INSERT INTO perdure.journal (key, position, note, partition, at, kind, status, name, payload)
            SELECT key, position, 0, key & 255, at, CASE position WHEN 1 THEN 1 ELSE 0 END, 0,
                   CASE position WHEN 1 THEN 'step' ELSE '' END, '1'::bytea
            FROM made CROSS JOIN unnest('{0,1,2147483647}'::int[]) AS position
            """;
}
