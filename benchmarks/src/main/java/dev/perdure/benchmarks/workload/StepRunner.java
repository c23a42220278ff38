package dev.perdure.benchmarks.workload;

import dev.perdure.benchmarks.server.BenchDatabase;

/** A system that runs workflows of no-op steps, set up in this process. */
public interface StepRunner extends AutoCloseable {
    /**
     * Runs a workflow of this many sequential steps and waits for its result. Called from many threads concurrently.
     */
    void run(int steps) throws Exception;

    @Override
    void close();

    /** Sets up a system on an empty database. */
    @FunctionalInterface
    interface Factory {
        StepRunner open(BenchDatabase database) throws Exception;
    }
}
