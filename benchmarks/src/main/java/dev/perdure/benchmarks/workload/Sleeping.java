package dev.perdure.benchmarks.workload;

import dev.perdure.benchmarks.measure.Footprint;
import dev.perdure.benchmarks.measure.Measurement;
import dev.perdure.benchmarks.measure.Task;
import dev.perdure.benchmarks.report.Unit;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** W4: workflows that sleep: how fast they get there, what they hold meanwhile, and how fast all wake at once. */
public final class Sleeping {
    /** More rounds of so many would take too long, and add nothing: the round is long enough by itself. */
    private static final int ONE_ROUND_FROM = 1_000_000;

    private static final Duration MARGIN = Duration.ofSeconds(3);

    private record Round(double startRate, double heap, double threads, double disk, double wakeRate) {}

    private final Task task;
    private final Sleepers sleepers;
    private long ended;
    private double perSecond;

    private Sleeping(Task task, Sleepers sleepers) {
        this.task = task;
        this.sleepers = sleepers;
    }

    /** The measurement for whoever the factory sets up, for the sizes that it can bear. */
    public static Measurement by(Sleepers.Factory factory, int largest) {
        return task -> {
            try (Sleepers sleepers = factory.open(task.site())) {
                new Sleeping(task, sleepers).measure(largest);
            }
        };
    }

    private void measure(int largest) throws Exception {
        task.results().progress("w4 warm-up");
        int warmUp = task.scale().choose(2_000, 1_000, 20);
        perSecond = 100;
        perSecond = round(warmUp).startRate();
        for (int count :
                task.scale().choose(List.of(1_000, 10_000, 100_000, 1_000_000), List.of(10_000), List.of(50))) {
            if (count <= largest) {
                measure(count, count >= ONE_ROUND_FROM ? 1 : task.scale().rounds());
            }
        }
    }

    private void measure(int count, int rounds) throws Exception {
        List<Round> all = new ArrayList<>();
        for (int i = 0; i < rounds; i++) {
            task.results().progress("w4." + count);
            all.add(round(count));
            perSecond = all.getLast().startRate();
        }
        String metric = "w4." + count;
        task.results().figure(metric + ".start_rate", Unit.PER_SECOND, all, Round::startRate);
        task.results().figure(metric + ".heap_per_sleeper", Unit.BYTES, all, Round::heap);
        task.results().figure(metric + ".threads", Unit.COUNT, all, Round::threads);
        task.results().figure(metric + ".disk_per_sleeper", Unit.BYTES, all, Round::disk);
        task.results().figure(metric + ".wake_rate", Unit.PER_SECOND, all, Round::wakeRate);
    }

    private Round round(int count) throws Exception {
        long heap = Footprint.heap();
        int threads = Footprint.threads();
        long disk = task.site().bytesOnDisk();
        long began = System.nanoTime();
        Instant due = Instant.now()
                .plus(MARGIN)
                .plusMillis((long) (1_500 * count / perSecond))
                .plusSeconds(count / 100_000);
        sleepers.sleep(count, due);
        double startRate = count * 1e9 / (System.nanoTime() - began);
        double heapEach = Math.max(0, Footprint.heap() - heap) / (double) count;
        double moreThreads = Math.max(0, Footprint.threads() - threads);
        double diskEach = (task.site().bytesOnDisk() - disk) / (double) count;
        if (Instant.now().isAfter(due)) {
            throw new IllegalStateException(
                    "The first of %,d sleepers were due before the last were asleep. The machine got slower; run it again."
                            .formatted(count));
        }
        ended += count;
        sleepers.awaitEnded(ended);
        double wakeSeconds = Duration.between(due, Instant.now()).toNanos() / 1e9;
        return new Round(startRate, heapEach, moreThreads, diskEach, count / wakeSeconds);
    }
}
