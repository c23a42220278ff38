package dev.perdure.benchmarks;

import dev.perdure.benchmarks.cost.Meter;
import dev.perdure.benchmarks.measure.Results;
import dev.perdure.benchmarks.measure.Scale;
import dev.perdure.benchmarks.measure.Task;
import dev.perdure.benchmarks.measure.Who;
import dev.perdure.benchmarks.measure.Workload;
import dev.perdure.benchmarks.process.Jvm;
import dev.perdure.benchmarks.server.Site;

/** A measuring process: one of those who are compared, one workload. */
public final class ChildMain {
    private ChildMain() {}

    /** Arguments: the database (see {@link Jvm}), who, which workload, which scale. */
    public static void main(String... args) throws Exception {
        Jvm.endWithParent();
        Who who = Who.valueOf(args[2]);
        Workload workload = Workload.valueOf(args[3]);
        Site site = Jvm.site(args);
        try (Meter meter = Meter.on(site)) {
            Task task = new Task(who, site, Scale.valueOf(args[4]), meter, new Results(System.out));
            Catalog.find(who, workload).orElseThrow().measure(task);
        }
        System.exit(0);
    }
}
