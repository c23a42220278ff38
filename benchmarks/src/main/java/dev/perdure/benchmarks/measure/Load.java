package dev.perdure.benchmarks.measure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * The throughput and latency of a number of callers, each of which repeats an action in its own virtual thread.
 *
 * @param operations all operations, also those that ended after the time
 * @param perSecond operations per second within the time
 * @param p50 the median latency, in milliseconds
 * @param p99 the 99th percentile of the latency, in milliseconds
 */
public record Load(long operations, double perSecond, double p50, double p99) {
    /** An action to measure. */
    @FunctionalInterface
    public interface Action {
        void run() throws Exception;
    }

    /**
     * Lets the callers repeat the action until the time is over. Actions that end later do not count, but the method
     * waits for them. Only the first action of a caller always counts, and then the time is as long as that action
     * took.
     */
    public static Load of(int callers, Duration time, Action action) throws Exception {
        long began = System.nanoTime();
        long end = began + time.toNanos();
        List<Future<Latencies>> all = new ArrayList<>();
        try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int caller = 0; caller < callers; caller++) {
                all.add(executor.submit(() -> callUntil(end, action)));
            }
        }
        Latencies merged = new Latencies();
        long last = end;
        long operations = 0;
        for (Future<Latencies> one : all) {
            merged.addAll(one.get());
            last = Math.max(last, one.get().last);
            operations += one.get().operations;
        }
        long[] nanos = merged.sorted();
        double perSecond = nanos.length * 1e9 / (last - began);
        return new Load(operations, perSecond, percentile(nanos, 50), percentile(nanos, 99));
    }

    private static Latencies callUntil(long end, Action action) throws Exception {
        Latencies latencies = new Latencies();
        long began = System.nanoTime();
        do {
            action.run();
            long done = System.nanoTime();
            latencies.operations++;
            if (done < end || latencies.size == 0) {
                latencies.add(done - began);
                latencies.last = done;
            }
            began = done;
        } while (began < end);
        return latencies;
    }

    /** The percentile, in milliseconds. */
    public static double percentile(long[] sortedNanos, int percent) {
        int index = (int) Math.ceil(sortedNanos.length * percent / 100.0) - 1;
        return sortedNanos[Math.max(0, index)] / 1e6;
    }

    /** A list of primitive numbers, so that boxing does not become part of the measurement. */
    private static final class Latencies {
        private long[] nanos = new long[1_024];
        private int size;
        private long last;
        private long operations;

        void add(long value) {
            if (size == nanos.length) {
                nanos = Arrays.copyOf(nanos, size * 2);
            }
            nanos[size++] = value;
        }

        void addAll(Latencies others) {
            for (int i = 0; i < others.size; i++) {
                add(others.nanos[i]);
            }
        }

        long[] sorted() {
            long[] copy = Arrays.copyOf(nanos, size);
            Arrays.sort(copy);
            return copy;
        }
    }
}
