package dev.perdure.benchmarks.measure;

/** Measures one workload for one of those who are compared. */
@FunctionalInterface
public interface Measurement {
    void measure(Task task) throws Exception;
}
