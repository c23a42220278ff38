package dev.perdure.benchmarks.micro;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.internal.commit.Committer;
import dev.perdure.internal.time.SystemClockwork;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** Group commit on a ledger that answers at once: the cost of queueing, leading and handing over alone. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class CommitterBenchmark {
    private static final int CHANGES = 64_000;
    private static final int LANES = 2;

    /** The number of concurrent callers, each in a virtual thread. */
    @Param({"1", "64", "1000"})
    public int callers;

    private final Committer committer = new Committer(
            (lane, changes) ->
                    Collections.nCopies(changes.size(), new Outcome.Applied(Instant.EPOCH, RunState.RUNNING)),
            new SystemClockwork(),
            new WorkerId(UUID.randomUUID()),
            LANES,
            () -> true);

    @Benchmark
    @OperationsPerInvocation(CHANGES)
    public void commits() throws Exception {
        List<Future<?>> all = new ArrayList<>();
        try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int caller = 0; caller < callers; caller++) {
                RunRef run = new RunRef(RunId.of("run-" + caller), caller);
                all.add(executor.submit(() -> commit(run, CHANGES / callers)));
            }
        }
        for (Future<?> one : all) {
            one.get();
        }
    }

    private void commit(RunRef run, int count) {
        Change change = new Change.Advance(run, 1, List.of(), new Move.Stay());
        for (int i = 0; i < count; i++) {
            committer.commit(change);
        }
    }
}
