package dev.perdure.benchmarks.workload;

import dev.perdure.benchmarks.measure.Measurement;
import dev.perdure.benchmarks.measure.Task;
import dev.perdure.benchmarks.measure.Together;
import dev.perdure.benchmarks.report.Unit;
import java.time.Duration;

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
                task.results().progress("w2.seq1000");
                double[] alone = rounds(task, runner, 1, 1_000);
                task.results().figure("w2.seq1000.per_step", Unit.MILLISECONDS, inverse(alone));
                task.results().progress("w2.64x100");
                task.results().figure("w2.64x100", Unit.PER_SECOND, rounds(task, runner, 64, 100));
                if (thousand) {
                    task.results().progress("w2.1000x100");
                    task.results().figure("w2.1000x100", Unit.PER_SECOND, rounds(task, runner, 1_000, 100));
                }
            }
        };
    }

    private static void warmUp(Task task, StepRunner runner) throws Exception {
        long end = System.nanoTime() + task.scale().warmUp().toNanos();
        while (System.nanoTime() < end) {
            Together.seconds(16, () -> runner.run(10));
        }
    }

    /** Steps a second. */
    private static double[] rounds(Task task, StepRunner runner, int workflows, int steps) throws Exception {
        round(task.scale().warmUp().dividedBy(4), runner, workflows, steps);
        double[] samples = new double[task.scale().rounds()];
        for (int round = 0; round < samples.length; round++) {
            samples[round] = round(task.scale().round(), runner, workflows, steps);
        }
        return samples;
    }

    /** So many workflows at once, and again until the time is over. */
    private static double round(Duration time, StepRunner runner, int workflows, int steps) throws Exception {
        long done = 0;
        double seconds = 0;
        while (seconds < time.toMillis() / 1e3) {
            seconds += Together.seconds(workflows, () -> runner.run(steps));
            done += (long) workflows * steps;
        }
        return done / seconds;
    }

    private static double[] inverse(double[] perSecond) {
        double[] milliseconds = new double[perSecond.length];
        for (int i = 0; i < perSecond.length; i++) {
            milliseconds[i] = 1_000 / perSecond[i];
        }
        return milliseconds;
    }
}
