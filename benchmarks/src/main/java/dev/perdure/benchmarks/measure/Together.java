package dev.perdure.benchmarks.measure;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Many at once, each in a virtual thread. */
public final class Together {
    private Together() {}

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
}
