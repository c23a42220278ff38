package dev.perdure.benchmarks.workload;

import dev.perdure.benchmarks.server.BenchDatabase;
import java.util.function.IntConsumer;

/**
 * Workflows of six steps. The benchmark kills their process during the sixth step, and another process continues them.
 * Implementations have a constructor without parameters.
 */
public interface Recoverable {
    /** The number of steps that are done when the process is killed. */
    int STEPS = 5;

    /** A process that runs the workflows. */
    interface Host extends AutoCloseable {
        /** Starts this many workflows, numbered from zero. Returns when all are started. */
        void start(int count) throws Exception;

        @Override
        void close();
    }

    /**
     * Sets up a process; unfinished workflows continue by themselves. It reports when a sixth step begins, and the step
     * lasts until the callback returns.
     */
    Host open(BenchDatabase database, IntConsumer sixth) throws Exception;

    /** A query for the number of unfinished workflows. */
    String unfinished();
}
