package dev.perdure.benchmarks.workload;

import dev.perdure.benchmarks.cost.Metered;
import dev.perdure.benchmarks.measure.Load;
import dev.perdure.benchmarks.measure.Measurement;
import dev.perdure.benchmarks.measure.Rounds;
import dev.perdure.benchmarks.measure.Scale;
import dev.perdure.benchmarks.measure.Task;
import dev.perdure.benchmarks.report.Unit;
import java.util.List;

/** W1: workflows of one no-op step, result awaited, from few and from many callers. */
public final class OneStep {
    private OneStep() {}

    /** The measurement for the system that this factory sets up. */
    public static Measurement by(StepRunner.Factory factory) {
        return task -> {
            try (StepRunner runner = factory.open(task.database())) {
                Load.of(16, task.scale().warmUp(), () -> runner.run(1));
                for (int callers : callers(task.scale())) {
                    measure(task, runner, callers);
                }
            }
        };
    }

    private static List<Integer> callers(Scale scale) {
        return scale == Scale.GOALS
                ? List.of(1, 64, 256, 1_000)
                : scale.choose(List.of(1, 16, 64, 256, 1_000), List.of(1, 64, 256), List.of(4));
    }

    private static void measure(Task task, StepRunner runner, int callers) throws Exception {
        String metric = "w1.c" + callers;
        task.results().progress(metric);
        Load.of(callers, task.scale().warmUp().dividedBy(4), () -> runner.run(1));
        Rounds<Metered<Load>> rounds = Rounds.of(
                task,
                () -> task.meter().measure(() -> Load.of(callers, task.scale().round(), () -> runner.run(1))));
        rounds.figure(metric, Unit.PER_SECOND, round -> round.result().perSecond());
        rounds.figure(
                metric + ".p50", Unit.MILLISECONDS, round -> round.result().p50());
        rounds.figure(
                metric + ".p99", Unit.MILLISECONDS, round -> round.result().p99());
        rounds.cost(metric, round -> round.cost().per(round.result().operations()));
    }
}
