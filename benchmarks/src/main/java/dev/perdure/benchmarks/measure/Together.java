package dev.perdure.benchmarks.measure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * What was done many at once, each in a virtual thread.
 *
 * @param count how many were done
 * @param seconds how long it took
 */
public record Together(long count, double seconds) {
    /** Does it so many times at once, and returns when all are done: the seconds it took. */
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

    /** Does it so many times at once, and again until the time is over. */
    public static Together during(Duration time, int atOnce, Load.Action action) throws Exception {
        long count = 0;
        double seconds = 0;
        while (seconds < time.toMillis() / 1e3) {
            seconds += seconds(atOnce, action);
            count += atOnce;
        }
        return new Together(count, seconds);
    }

    public double perSecond() {
        return count / seconds;
    }
}
