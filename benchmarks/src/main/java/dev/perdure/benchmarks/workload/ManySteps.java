package dev.perdure.benchmarks.workload;

import dev.perdure.benchmarks.cost.Metered;
import dev.perdure.benchmarks.measure.Measurement;
import dev.perdure.benchmarks.measure.Rounds;
import dev.perdure.benchmarks.measure.Task;
import dev.perdure.benchmarks.measure.Together;
import dev.perdure.benchmarks.report.Unit;

/** W2: workflows of many no-op steps, one alone and many at once. */
public final class ManySteps {
    private ManySteps() {}

    /** The measurement for whoever the factory sets up. */
    public static Measurement by(StepRunner.Factory factory) {
        return by(factory, true);
    }

    /** As {@link #by}, without the thousand at once: for those for whom these take minutes. */
    public static Measurement withoutTheThousand(StepRunner.Factory factory) {
        return by(factory, false);
    }

    private static Measurement by(StepRunner.Factory factory, boolean thousand) {
        return task -> {
            try (StepRunner runner = factory.open(task.site())) {
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
        Together.during(task.scale().warmUp(), 16, () -> runner.run(10));
    }

    private static void alone(Task task, StepRunner runner, int steps) throws Exception {
        String metric = "w2.seq" + steps;
        Rounds<Metered<Together>> rounds = rounds(task, runner, metric, 1, steps);
        rounds.figure(
                metric + ".per_step",
                Unit.MILLISECONDS,
                round -> 1_000 / (round.result().perSecond() * steps));
        rounds.cost(metric, round -> round.cost().per(round.result().count() * steps));
    }

    private static void atOnce(Task task, StepRunner runner, int workflows, int steps) throws Exception {
        String metric = "w2.%dx%d".formatted(workflows, steps);
        Rounds<Metered<Together>> rounds = rounds(task, runner, metric, workflows, steps);
        rounds.figure(metric, Unit.PER_SECOND, round -> round.result().perSecond() * steps);
        rounds.cost(metric, round -> round.cost().per(round.result().count() * steps));
    }

    /** So many workflows at once, and again until a round's time is over. */
    private static Rounds<Metered<Together>> rounds(
            Task task, StepRunner runner, String metric, int workflows, int steps) throws Exception {
        task.results().progress(metric);
        Together.during(task.scale().warmUp().dividedBy(4), workflows, () -> runner.run(steps));
        return Rounds.of(
                task,
                () -> task.meter()
                        .measure(() -> Together.during(task.scale().round(), workflows, () -> runner.run(steps))));
    }
}
