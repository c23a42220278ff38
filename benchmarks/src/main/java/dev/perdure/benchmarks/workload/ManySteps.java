package dev.perdure.benchmarks.workload;

import dev.perdure.benchmarks.cost.Metered;
import dev.perdure.benchmarks.measure.Burst;
import dev.perdure.benchmarks.measure.Measurement;
import dev.perdure.benchmarks.measure.Rounds;
import dev.perdure.benchmarks.measure.Task;
import dev.perdure.benchmarks.report.Unit;

/** W2: workflows of many no-op steps, one alone and many concurrently. */
public final class ManySteps {
    private ManySteps() {}

    /** The measurement for the system that this factory sets up. */
    public static Measurement by(StepRunner.Factory factory) {
        return by(factory, true);
    }

    /** Like {@link #by}, but without the 1,000 concurrent workflows, for systems for which these take minutes. */
    public static Measurement withoutTheThousand(StepRunner.Factory factory) {
        return by(factory, false);
    }

    private static Measurement by(StepRunner.Factory factory, boolean thousand) {
        return task -> {
            try (StepRunner runner = factory.open(task.database())) {
                warmUp(task, runner);
                alone(task, runner, 1_000);
                atOnce(task, runner, 64, 100);
                if (thousand) {
                    atOnce(task, runner, 1_000, 100);
                }
            }
        };
    }

    private static void warmUp(Task task, StepRunner runner) throws Exception {
        Burst.during(task.scale().warmUp(), 16, () -> runner.run(10));
    }

    private static void alone(Task task, StepRunner runner, int steps) throws Exception {
        String metric = "w2.seq" + steps;
        Rounds<Metered<Burst>> rounds = rounds(task, runner, metric, 1, steps);
        rounds.figure(
                metric + ".per_step",
                Unit.MILLISECONDS,
                round -> 1_000 / (round.result().perSecond() * steps));
        rounds.cost(metric, round -> round.cost().per(round.result().count() * steps));
    }

    private static void atOnce(Task task, StepRunner runner, int workflows, int steps) throws Exception {
        String metric = "w2.%dx%d".formatted(workflows, steps);
        Rounds<Metered<Burst>> rounds = rounds(task, runner, metric, workflows, steps);
        rounds.figure(metric, Unit.PER_SECOND, round -> round.result().perSecond() * steps);
        rounds.cost(metric, round -> round.cost().per(round.result().count() * steps));
    }

    /** Repeats a burst of this many workflows until the round's time is over. */
    private static Rounds<Metered<Burst>> rounds(Task task, StepRunner runner, String metric, int workflows, int steps)
            throws Exception {
        task.results().progress(metric);
        Burst.during(task.scale().warmUp().dividedBy(4), workflows, () -> runner.run(steps));
        return Rounds.of(
                task,
                () -> task.meter()
                        .measure(() -> Burst.during(task.scale().round(), workflows, () -> runner.run(steps))));
    }
}
