package dev.perdure.benchmarks.measure;

/** Measures one workload for one contender. */
@FunctionalInterface
public interface Measurement {
    void measure(Task task) throws Exception;
}
