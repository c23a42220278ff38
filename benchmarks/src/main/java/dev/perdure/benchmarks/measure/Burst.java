package dev.perdure.benchmarks.measure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * A burst: many actions at the same time, each in a virtual thread.
 *
 * @param count the number of actions
 * @param seconds the time that they took
 */
public record Burst(long count, double seconds) {
    /** Runs the action this many times concurrently, and returns the seconds until all have ended. */
    public static double seconds(int count, Load.Action action) throws Exception {
        long began = System.nanoTime();
        List<Future<?>> all = new ArrayList<>();
        try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < count; i++) {
                all.add(executor.submit(() -> {
                    action.run();
                    return null;
                }));
            }
        }
        for (Future<?> one : all) {
            one.get();
        }
        return (System.nanoTime() - began) / 1e9;
    }

    /** Repeats a burst of this many actions until the time is over. */
    public static Burst during(Duration time, int size, Load.Action action) throws Exception {
        long count = 0;
        double seconds = 0;
        while (seconds < time.toMillis() / 1e3) {
            seconds += seconds(size, action);
            count += size;
        }
        return new Burst(count, seconds);
    }

    public double perSecond() {
        return count / seconds;
    }
}
