package dev.perdure.benchmarks.workload;

import dev.perdure.benchmarks.cost.Metered;
import dev.perdure.benchmarks.measure.Measurement;
import dev.perdure.benchmarks.measure.Rounds;
import dev.perdure.benchmarks.measure.Task;
import dev.perdure.benchmarks.measure.Timestamps;
import dev.perdure.benchmarks.process.ChildProcess;
import dev.perdure.benchmarks.report.Unit;
import java.util.Arrays;

/**
 * W5: kills a process with 2,000 workflows in their sixth step with {@code kill -9}, and starts it again. The recovery
 * consists of two times, and the benchmark reports both. The first lasts until the system notices the death and the
 * first workflow continues: a lease has to end, unless a process recovers only its own workflows. The second lasts from
 * then until all are finished.
 */
public final class Recovery {
    private record Round(double rate, double untilFirst, double inAll) {}

    private Recovery() {}

    /** The measurement for these workflows. */
    public static Measurement by(Recoverable recoverable) {
        return task -> {
            int count = task.scale().choose(2_000, 2_000, 20);
            String metric = "w5.recover" + count;
            Rounds<Metered<Round>> rounds = Rounds.of(task, () -> {
                task.results().progress("w5");
                return round(task, recoverable, count);
            });
            rounds.figure(
                    metric + ".rate", Unit.PER_SECOND, round -> round.result().rate());
            rounds.figure(
                    metric + ".until_first",
                    Unit.SECONDS,
                    round -> round.result().untilFirst());
            rounds.figure(
                    metric + ".in_all", Unit.SECONDS, round -> round.result().inAll());
            rounds.cost(metric, round -> round.cost().per(count));
        };
    }

    private static Metered<Round> round(Task task, Recoverable recoverable, int count) throws Exception {
        String workflows = recoverable.getClass().getName();
        try (ChildProcess first = ChildProcess.with(RecoverableMain.class, task.database(), workflows)) {
            first.ask("begin " + count);
            first.kill();
        }
        try (ChildProcess second = ChildProcess.with(RecoverableMain.class, task.database(), workflows);
                Unfinished unfinished = new Unfinished(task.database(), recoverable.unfinished())) {
            return task.meter().with(second).measure(() -> recover(second, unfinished, count));
        }
    }

    private static Round recover(ChildProcess second, Unfinished unfinished, int count) throws Exception {
        String begun = second.ask("recover " + count);
        unfinished.awaitNone();
        long finished = Timestamps.now();
        long[] times = Timestamps.parse(begun);
        long opened = times[0];
        long resumed = Arrays.stream(times).skip(1).min().orElseThrow();
        return new Round(count * 1e6 / (finished - resumed), (resumed - opened) / 1e6, (finished - opened) / 1e6);
    }
}
