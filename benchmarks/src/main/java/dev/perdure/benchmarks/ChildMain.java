package dev.perdure.benchmarks;

import dev.perdure.benchmarks.cost.Meter;
import dev.perdure.benchmarks.measure.Contender;
import dev.perdure.benchmarks.measure.Results;
import dev.perdure.benchmarks.measure.Scale;
import dev.perdure.benchmarks.measure.Task;
import dev.perdure.benchmarks.measure.Workload;
import dev.perdure.benchmarks.process.Jvm;
import dev.perdure.benchmarks.server.BenchDatabase;

/** The process of one measurement: one contender, one workload. */
public final class ChildMain {
    private ChildMain() {}

    /** Arguments: the database (see {@link Jvm}), the contender, the workload, the scale, the finished runs. */
    public static void main(String... args) throws Exception {
        Jvm.endWithParent();
        Contender contender = Contender.valueOf(args[2]);
        Workload workload = Workload.valueOf(args[3]);
        BenchDatabase database = Jvm.database(args);
        try (Meter meter = Meter.on(database)) {
            Task task = new Task(
                    contender,
                    database,
                    Scale.valueOf(args[4]),
                    Long.parseLong(args[5]),
                    meter,
                    new Results(System.out));
            Catalog.find(contender, workload).orElseThrow().measure(task);
        }
        System.exit(0);
    }
}
