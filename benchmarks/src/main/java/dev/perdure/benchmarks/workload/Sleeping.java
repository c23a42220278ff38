package dev.perdure.benchmarks.workload;

import dev.perdure.benchmarks.cost.Cost;
import dev.perdure.benchmarks.cost.Metered;
import dev.perdure.benchmarks.measure.JvmUsage;
import dev.perdure.benchmarks.measure.Measurement;
import dev.perdure.benchmarks.measure.Rounds;
import dev.perdure.benchmarks.measure.Scale;
import dev.perdure.benchmarks.measure.Task;
import dev.perdure.benchmarks.report.Unit;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * W4: sleeping workflows. Measures how fast they start, what they hold while they sleep, and how fast all wake at the
 * same time.
 */
public final class Sleeping {
    /** From this number on there is only one round. More would take too long, and one is long enough to be exact. */
    private static final int ONE_ROUND_FROM = 1_000_000;

    private static final Duration MARGIN = Duration.ofSeconds(3);

    private record Asleep(Instant due, double startRate, Cost startCost, double heap, double threads, double disk) {}

    private record Round(Asleep asleep, double wakeRate, Cost wakeCost) {}

    private final Task task;
    private final Sleepers sleepers;
    private long ended;
    private double perSecond;

    private Sleeping(Task task, Sleepers sleepers) {
        this.task = task;
        this.sleepers = sleepers;
    }

    /** The measurement for the system that this factory sets up, up to the number of sleepers that it can handle. */
    public static Measurement by(Sleepers.Factory factory, int largest) {
        return task -> {
            try (Sleepers sleepers = factory.open(task.database())) {
                new Sleeping(task, sleepers).measure(largest);
            }
        };
    }

    private void measure(int largest) throws Exception {
        task.results().progress("w4 warm-up");
        perSecond = 100;
        for (int count : warmUps(largest)) {
            perSecond = round(count).asleep().startRate();
        }
        for (int count : counts(largest)) {
            measure(count, count >= ONE_ROUND_FROM ? 1 : task.scale().rounds());
        }
    }

    /** The last of them tells how long the starts of those that are measured take. */
    private List<Integer> warmUps(int largest) {
        return task.scale() == Scale.GOALS
                ? List.of(2_000, largest / 10)
                : List.of(task.scale().choose(2_000, 1_000, 20));
    }

    private List<Integer> counts(int largest) {
        return task.scale() == Scale.GOALS
                ? List.of(largest)
                : task.scale().choose(List.of(1_000, 10_000, 100_000, 1_000_000), List.of(10_000), List.of(50)).stream()
                        .filter(count -> count <= largest)
                        .toList();
    }

    private void measure(int count, int rounds) throws Exception {
        String metric = "w4." + count;
        Rounds<Round> all = Rounds.of(task, rounds, () -> {
            task.results().progress(metric);
            Round round = round(count);
            perSecond = round.asleep().startRate();
            return round;
        });
        all.figure(
                metric + ".start_rate", Unit.PER_SECOND, round -> round.asleep().startRate());
        all.figure(
                metric + ".heap_per_sleeper",
                Unit.BYTES,
                round -> round.asleep().heap());
        all.figure(metric + ".threads", Unit.COUNT, round -> round.asleep().threads());
        all.figure(
                metric + ".disk_per_sleeper",
                Unit.BYTES,
                round -> round.asleep().disk());
        all.figure(metric + ".wake_rate", Unit.PER_SECOND, Round::wakeRate);
        all.cost(metric + ".start", round -> round.asleep().startCost());
        all.cost(metric + ".wake", Round::wakeCost);
    }

    private Round round(int count) throws Exception {
        Asleep asleep = start(count);
        if (Instant.now().isAfter(asleep.due())) {
            throw new IllegalStateException(
                    "The first of %,d sleepers were due before the last slept. The machine became slower; run it again."
                            .formatted(count));
        }
        ended += count;
        Metered<Double> woken = task.meter().measure(() -> {
            sleepers.awaitEnded(ended);
            return Duration.between(asleep.due(), Instant.now()).toNanos() / 1e9;
        });
        return new Round(asleep, count / woken.result(), woken.cost().per(count));
    }

    private Asleep start(int count) throws Exception {
        long heap = JvmUsage.heap();
        int threads = JvmUsage.threads();
        long disk = task.database().bytesOnDisk();
        Instant due = Instant.now()
                .plus(MARGIN)
                .plusMillis((long) (1_500 * count / perSecond))
                .plusSeconds(count / 100_000);
        Metered<Double> started = task.meter().measure(() -> {
            long began = System.nanoTime();
            sleepers.sleep(count, due);
            return (System.nanoTime() - began) / 1e9;
        });
        double heapEach = Math.max(0, JvmUsage.heap() - heap) / (double) count;
        double moreThreads = Math.max(0, JvmUsage.threads() - threads);
        double diskEach = (task.database().bytesOnDisk() - disk) / (double) count;
        return new Asleep(due, count / started.result(), started.cost().per(count), heapEach, moreThreads, diskEach);
    }
}
