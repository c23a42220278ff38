package dev.perdure.benchmarks;

import dev.perdure.benchmarks.dbos.DbosQueue;
import dev.perdure.benchmarks.dbos.DbosRecoverable;
import dev.perdure.benchmarks.dbos.DbosSleepers;
import dev.perdure.benchmarks.dbos.DbosSteps;
import dev.perdure.benchmarks.dbscheduler.DbSchedulerQueue;
import dev.perdure.benchmarks.jobrunr.JobRunrQueue;
import dev.perdure.benchmarks.measure.Contender;
import dev.perdure.benchmarks.measure.Measurement;
import dev.perdure.benchmarks.measure.Workload;
import dev.perdure.benchmarks.perdure.Dags;
import dev.perdure.benchmarks.perdure.Footprint;
import dev.perdure.benchmarks.perdure.Growth;
import dev.perdure.benchmarks.perdure.LongJournal;
import dev.perdure.benchmarks.perdure.Overheads;
import dev.perdure.benchmarks.perdure.PerdureQueue;
import dev.perdure.benchmarks.perdure.PerdureRecoverable;
import dev.perdure.benchmarks.perdure.PerdureRetention;
import dev.perdure.benchmarks.perdure.PerdureSchedules;
import dev.perdure.benchmarks.perdure.PerdureSleepers;
import dev.perdure.benchmarks.perdure.PerdureSteps;
import dev.perdure.benchmarks.perdure.QueueLimits;
import dev.perdure.benchmarks.perdure.ShardCosts;
import dev.perdure.benchmarks.perdure.Takeover;
import dev.perdure.benchmarks.perdure.VirtualObjects;
import dev.perdure.benchmarks.perdure.Workers;
import dev.perdure.benchmarks.raw.RawInserts;
import dev.perdure.benchmarks.raw.RawRemoval;
import dev.perdure.benchmarks.workload.ManySteps;
import dev.perdure.benchmarks.workload.OneStep;
import dev.perdure.benchmarks.workload.Queueing;
import dev.perdure.benchmarks.workload.Recovery;
import dev.perdure.benchmarks.workload.Sleeping;
import java.util.List;
import java.util.Optional;

/** All measurements. A contender that is missing in a workload has no comparable feature. */
final class Catalog {
    private record Item(Contender contender, Workload workload, Measurement measurement) {}

    private static final List<Item> ITEMS = List.of(
            new Item(Contender.RAW, Workload.RAW, RawInserts::measure),
            new Item(Contender.RAW, Workload.W1, RawInserts.baselineFor(Workload.W1, 1)),
            new Item(Contender.PERDURE, Workload.W1, OneStep.by(PerdureSteps::open)),
            new Item(Contender.TUNED, Workload.W1, OneStep.by(PerdureSteps::open)),
            new Item(Contender.DBOS, Workload.W1, OneStep.by(DbosSteps::open)),
            new Item(Contender.RAW, Workload.W2, RawInserts.baselineFor(Workload.W2, 1, 32)),
            new Item(Contender.PERDURE, Workload.W2, ManySteps.by(PerdureSteps::open)),
            new Item(Contender.TUNED, Workload.W2, ManySteps.by(PerdureSteps::open)),
            new Item(Contender.DBOS, Workload.W2, ManySteps.withoutTheThousand(DbosSteps::open)),
            new Item(Contender.PERDURE, Workload.W3, Queueing.by(new PerdureQueue())),
            new Item(Contender.TUNED, Workload.W3, Queueing.by(new PerdureQueue())),
            new Item(Contender.DBOS, Workload.W3, Queueing.by(new DbosQueue())),
            new Item(Contender.DBSCHEDULER, Workload.W3, Queueing.by(new DbSchedulerQueue())),
            new Item(Contender.JOBRUNR, Workload.W3, Queueing.by(new JobRunrQueue())),
            new Item(Contender.RAW, Workload.W4, RawInserts.baselineFor(Workload.W4, 32)),
            new Item(Contender.PERDURE, Workload.W4, Sleeping.by(PerdureSleepers::open, 1_000_000)),
            new Item(Contender.DBOS, Workload.W4, Sleeping.by(DbosSleepers::open, 10_000)),
            new Item(
                    Contender.PERDURE,
                    Workload.W5,
                    Measurement.all(Recovery.by(new PerdureRecoverable()), Takeover::measure)),
            new Item(Contender.DBOS, Workload.W5, Recovery.by(new DbosRecoverable())),
            new Item(Contender.RAW, Workload.W6, RawInserts.baselineFor(Workload.W6, 1, 32)),
            new Item(Contender.PERDURE, Workload.W6, Dags::measure),
            new Item(Contender.TUNED, Workload.W6, Dags::measure),
            new Item(Contender.PERDURE, Workload.W7, Growth::measure),
            new Item(Contender.PERDURE, Workload.W8, LongJournal::measure),
            new Item(Contender.RAW, Workload.OBJECTS, RawInserts.baselineFor(Workload.OBJECTS, 1, 32)),
            new Item(Contender.PERDURE, Workload.OBJECTS, VirtualObjects::measure),
            new Item(Contender.TUNED, Workload.OBJECTS, VirtualObjects::measure),
            new Item(Contender.PERDURE, Workload.WORKERS, Workers::measure),
            new Item(
                    Contender.PERDURE,
                    Workload.QUEUES,
                    Measurement.all(
                            Queueing.drain("queues.free", new PerdureQueue(), 20_000),
                            Queueing.drain("queues.limited", new PerdureQueue.Limited(), 20_000),
                            Queueing.drain("queues.keys", new PerdureQueue.Keyed(), 20_000),
                            QueueLimits::measure)),
            // One poll a second takes 64 jobs, or two of each key, so more of them would only take longer.
            new Item(
                    Contender.DBOS,
                    Workload.QUEUES,
                    Measurement.all(
                            Queueing.drain("queues.free", new DbosQueue(), 2_000),
                            Queueing.drain("queues.limited", new DbosQueue.Limited(), 640),
                            Queueing.drain("queues.keys", new DbosQueue.Keyed(), 4_000))),
            new Item(Contender.PERDURE, Workload.SCHEDULES, PerdureSchedules::measure),
            new Item(Contender.PERDURE, Workload.RETENTION, PerdureRetention::measure),
            new Item(Contender.RAW, Workload.REMOVAL, RawRemoval::measure),
            new Item(Contender.PERDURE, Workload.METRICS, Overheads::measure),
            new Item(Contender.PERDURE, Workload.SHARDS, ShardCosts::measure),
            new Item(Contender.PERDURE, Workload.FOOTPRINT, Footprint::measure));

    private Catalog() {}

    static Optional<Measurement> find(Contender contender, Workload workload) {
        return ITEMS.stream()
                .filter(item -> item.contender() == contender && item.workload() == workload)
                .map(Item::measurement)
                .findFirst();
    }
}
