package dev.perdure.benchmarks;

import dev.perdure.benchmarks.measure.Results;
import dev.perdure.benchmarks.measure.Scale;
import dev.perdure.benchmarks.measure.Task;
import dev.perdure.benchmarks.measure.Who;
import dev.perdure.benchmarks.measure.Workload;
import dev.perdure.benchmarks.process.Jvm;

/** A measuring process: one of those who are compared, one workload. */
public final class ChildMain {
    private ChildMain() {}

    /** Arguments: the database (see {@link Jvm}), who, which workload, which scale. */
    public static void main(String... args) throws Exception {
        Jvm.endWithParent();
        Who who = Who.valueOf(args[2]);
        Workload workload = Workload.valueOf(args[3]);
        Task task = new Task(who, Jvm.site(args), Scale.valueOf(args[4]), new Results(System.out));
        Catalog.find(who, workload).orElseThrow().measure(task);
        System.exit(0);
    }
}
