package dev.perdure.benchmarks;

import dev.perdure.benchmarks.dbos.DbosSteps;
import dev.perdure.benchmarks.measure.Measurement;
import dev.perdure.benchmarks.measure.Who;
import dev.perdure.benchmarks.measure.Workload;
import dev.perdure.benchmarks.ours.PerdureSteps;
import dev.perdure.benchmarks.raw.RawInserts;
import dev.perdure.benchmarks.workload.ManySteps;
import dev.perdure.benchmarks.workload.OneStep;
import java.util.List;
import java.util.Optional;

/** Everything that can be measured. Who is not listed with a workload has nothing that would be comparable. */
final class Catalog {
    private record Item(Who who, Workload workload, Measurement measurement) {}

    private static final List<Item> ITEMS = List.of(
            new Item(Who.RAW, Workload.RAW, RawInserts::measure),
            new Item(Who.PERDURE, Workload.W1, OneStep.by(PerdureSteps::open)),
            new Item(Who.DBOS, Workload.W1, OneStep.by(DbosSteps::open)),
            new Item(Who.PERDURE, Workload.W2, ManySteps.by(PerdureSteps::open)),
            new Item(Who.DBOS, Workload.W2, ManySteps.withoutTheThousand(DbosSteps::open)));

    private Catalog() {}

    static Optional<Measurement> find(Who who, Workload workload) {
        return ITEMS.stream()
                .filter(item -> item.who() == who && item.workload() == workload)
                .map(Item::measurement)
                .findFirst();
    }
}
