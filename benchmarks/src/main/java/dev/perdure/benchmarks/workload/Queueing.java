package dev.perdure.benchmarks.workload;

import dev.perdure.benchmarks.cost.Metered;
import dev.perdure.benchmarks.measure.Load;
import dev.perdure.benchmarks.measure.Measurement;
import dev.perdure.benchmarks.measure.Rounds;
import dev.perdure.benchmarks.measure.Task;
import dev.perdure.benchmarks.measure.Timestamps;
import dev.perdure.benchmarks.process.ChildProcess;
import dev.perdure.benchmarks.report.Unit;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** W3: jobs started in one process and run in another. Measures the latency, and the rate when thousands wait. */
public final class Queueing {
    private static final Duration APART = Duration.ofMillis(20);
    private static final Duration IDLE = Duration.ofSeconds(1);

    private final Task task;
    private final ChildProcess worker;
    private final Unfinished unfinished;

    private Queueing(Task task, ChildProcess worker, Unfinished unfinished) {
        this.task = task;
        this.worker = worker;
        this.unfinished = unfinished;
    }

    /** The measurement for this queue. */
    public static Measurement by(Queue queue) {
        return task -> onQueue(task, queue, Queueing::measure);
    }

    /** The rate at which one worker drains this many jobs of the queue. */
    public static Measurement drain(String metric, Queue queue, int jobs) {
        return task -> onQueue(task, queue, (queueing, producer) -> {
            int count = task.scale().choose(jobs, jobs / 4, Math.min(jobs, 50));
            queueing.warmUp(metric, producer, Math.max(20, count / 10));
            queueing.drains(metric, producer, count);
        });
    }

    private interface OnQueue {
        void measure(Queueing queueing, Queue.Producer producer) throws Exception;
    }

    private static void onQueue(Task task, Queue queue, OnQueue measurement) throws Exception {
        try (ChildProcess worker = ChildProcess.with(
                QueueWorkerMain.class, task.database(), queue.getClass().getName())) {
            // Creates the tables.
            worker.ask("open 0");
            worker.ask("close");
            try (Queue.Producer producer = queue.producer(task.database());
                    Unfinished unfinished = new Unfinished(task.database(), queue.unfinished())) {
                measurement.measure(new Queueing(task, worker, unfinished), producer);
            }
        }
    }

    private void warmUp(String metric, Queue.Producer producer, int count) throws Exception {
        task.results().progress(metric + " warm-up");
        long warm = System.nanoTime() + task.scale().warmUp().toNanos();
        do {
            drain(producer, count);
        } while (System.nanoTime() < warm);
    }

    private void drains(String metric, Queue.Producer producer, int count) throws Exception {
        Rounds<Metered<Double>> rounds = Rounds.of(task, () -> {
            task.results().progress(metric);
            return drain(producer, count);
        });
        rounds.figure(metric, Unit.PER_SECOND, Metered::result);
        rounds.cost(metric, round -> round.cost().per(count));
    }

    private void measure(Queue.Producer producer) throws Exception {
        warmUp("w3", producer, task.scale().choose(2_000, 500, 20));
        task.results().progress("w3.latency");
        latency(producer);
        drains("w3.drain", producer, task.scale().choose(20_000, 5_000, 50));
    }

    private Metered<Double> drain(Queue.Producer producer, int count) throws Exception {
        producer.start(IntStream.range(0, count).boxed().toList());
        Metered<Double> drained = task.meter().with(worker).measure(() -> openAndDrain(count));
        worker.ask("close");
        return drained;
    }

    /** Jobs per second, from the begin of the first until all are finished. */
    private double openAndDrain(int count) throws Exception {
        worker.ask("open " + count);
        String begun = worker.ask("await");
        unfinished.awaitNone();
        long finished = Timestamps.now();
        long first = Arrays.stream(Timestamps.parse(begun)).min().orElseThrow();
        return count * 1e6 / (finished - first);
    }

    private void latency(Queue.Producer producer) throws Exception {
        int rounds = task.scale().rounds();
        double[] p50 = new double[rounds];
        double[] p99 = new double[rounds];
        for (int round = 0; round < rounds; round++) {
            long[] nanos = latencies(producer, task.scale().choose(200, 100, 5));
            p50[round] = Load.percentile(nanos, 50);
            p99[round] = Load.percentile(nanos, 99);
        }
        task.results().figure("w3.latency.p50", Unit.MILLISECONDS, p50);
        task.results().figure("w3.latency.p99", Unit.MILLISECONDS, p99);
    }

    /** The time from the call that starts a job until its body begins, for jobs started one by one. */
    private long[] latencies(Queue.Producer producer, int count) throws Exception {
        worker.ask("open " + count);
        Thread.sleep(IDLE);
        long[] started = new long[count];
        for (int i = 0; i < count; i++) {
            started[i] = Timestamps.now();
            producer.start(List.of(i));
            Thread.sleep(APART);
        }
        long[] begun = Timestamps.parse(worker.ask("await"));
        unfinished.awaitNone();
        worker.ask("close");
        return IntStream.range(0, count)
                .mapToLong(i -> (begun[i] - started[i]) * 1_000)
                .sorted()
                .toArray();
    }
}
