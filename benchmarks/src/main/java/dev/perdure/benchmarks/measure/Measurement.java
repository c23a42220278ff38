package dev.perdure.benchmarks.measure;

/** Measures one workload for one contender. */
@FunctionalInterface
public interface Measurement {
    void measure(Task task) throws Exception;

    /** One after the other, in one process and on one database. */
    static Measurement all(Measurement... measurements) {
        return task -> {
            for (Measurement measurement : measurements) {
                measurement.measure(task);
            }
        };
    }
}
