package dev.perdure.benchmarks;

import dev.perdure.benchmarks.dbos.DbosQueue;
import dev.perdure.benchmarks.dbos.DbosRecoverable;
import dev.perdure.benchmarks.dbos.DbosSleepers;
import dev.perdure.benchmarks.dbos.DbosSteps;
import dev.perdure.benchmarks.dbscheduler.DbSchedulerQueue;
import dev.perdure.benchmarks.jobrunr.JobRunrQueue;
import dev.perdure.benchmarks.measure.Measurement;
import dev.perdure.benchmarks.measure.Who;
import dev.perdure.benchmarks.measure.Workload;
import dev.perdure.benchmarks.ours.Budget;
import dev.perdure.benchmarks.ours.Graphs;
import dev.perdure.benchmarks.ours.Growth;
import dev.perdure.benchmarks.ours.LongJournal;
import dev.perdure.benchmarks.ours.Objects;
import dev.perdure.benchmarks.ours.PerdureQueue;
import dev.perdure.benchmarks.ours.PerdureRecoverable;
import dev.perdure.benchmarks.ours.PerdureSleepers;
import dev.perdure.benchmarks.ours.PerdureSteps;
import dev.perdure.benchmarks.raw.RawInserts;
import dev.perdure.benchmarks.workload.ManySteps;
import dev.perdure.benchmarks.workload.OneStep;
import dev.perdure.benchmarks.workload.Queueing;
import dev.perdure.benchmarks.workload.Recovery;
import dev.perdure.benchmarks.workload.Sleeping;
import java.util.List;
import java.util.Optional;

/** Everything that can be measured. Who is not listed with a workload has nothing that would be comparable. */
final class Catalog {
    private record Item(Who who, Workload workload, Measurement measurement) {}

    private static final List<Item> ITEMS = List.of(
            new Item(Who.RAW, Workload.RAW, RawInserts::measure),
            new Item(Who.RAW, Workload.W1, RawInserts.beside(Workload.W1, 1)),
            new Item(Who.PERDURE, Workload.W1, OneStep.by(PerdureSteps::open)),
            new Item(Who.DBOS, Workload.W1, OneStep.by(DbosSteps::open)),
            new Item(Who.RAW, Workload.W2, RawInserts.beside(Workload.W2, 1, 32)),
            new Item(Who.PERDURE, Workload.W2, ManySteps.by(PerdureSteps::open)),
            new Item(Who.DBOS, Workload.W2, ManySteps.withoutTheThousand(DbosSteps::open)),
            new Item(Who.PERDURE, Workload.W3, Queueing.by(new PerdureQueue())),
            new Item(Who.DBOS, Workload.W3, Queueing.by(new DbosQueue())),
            new Item(Who.DBSCHEDULER, Workload.W3, Queueing.by(new DbSchedulerQueue())),
            new Item(Who.JOBRUNR, Workload.W3, Queueing.by(new JobRunrQueue())),
            new Item(Who.PERDURE, Workload.W4, Sleeping.by(PerdureSleepers::open, 1_000_000)),
            new Item(Who.DBOS, Workload.W4, Sleeping.by(DbosSleepers::open, 10_000)),
            new Item(Who.PERDURE, Workload.W5, Recovery.by(new PerdureRecoverable())),
            new Item(Who.DBOS, Workload.W5, Recovery.by(new DbosRecoverable())),
            new Item(Who.RAW, Workload.W6, RawInserts.beside(Workload.W6, 1, 32)),
            new Item(Who.PERDURE, Workload.W6, Graphs::measure),
            new Item(Who.PERDURE, Workload.W7, Growth::measure),
            new Item(Who.PERDURE, Workload.W8, LongJournal::measure),
            new Item(Who.RAW, Workload.OBJECTS, RawInserts.beside(Workload.OBJECTS, 1, 32)),
            new Item(Who.PERDURE, Workload.OBJECTS, Objects::measure),
            new Item(Who.PERDURE, Workload.FOOTPRINT, Budget::measure));

    private Catalog() {}

    static Optional<Measurement> find(Who who, Workload workload) {
        return ITEMS.stream()
                .filter(item -> item.who() == who && item.workload() == workload)
                .map(Item::measurement)
                .findFirst();
    }
}
