package dev.perdure.benchmarks.workload;

import dev.perdure.benchmarks.server.Site;

/** Something that can run workflows of no-op steps, set up in this process. */
public interface StepRunner extends AutoCloseable {
    /** Runs a workflow of so many steps, one after the other, and waits for its result. Called from many threads at once. */
    void run(int steps) throws Exception;

    @Override
    void close();

    /** Sets one up on an empty database. */
    @FunctionalInterface
    interface Factory {
        StepRunner open(Site site) throws Exception;
    }
}
