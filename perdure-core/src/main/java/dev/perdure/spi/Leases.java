package dev.perdure.spi;

import dev.perdure.RunChange;
import dev.perdure.queue.Requirement;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import dev.perdure.version.WorkerInfo.Heap;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Tracks which workers are alive, and takes the runs of dead ones. */
public interface Leases {
    /**
     * A worker that joins.
     *
     * @param id its random id
     * @param definitions the definitions that it can run
     * @param version its version, or null
     * @param lease how long it counts as alive after it last renewed its lease
     * @param lanes how many batches it sends concurrently
     * @param former the workers that its process was before; they released all their runs, and did not die
     * @param queues the queues from which it takes runs; empty if that is not known. It serves only to say why a run
     *     waits
     * @param labels its labels, its id among them: whether runs wait for labels that they prefer, and why they wait
     */
    record Joining(
            WorkerId id,
            Set<String> definitions,
            @Nullable String version,
            Duration lease,
            int lanes,
            Set<WorkerId> former,
            Set<String> queues,
            Map<String, String> labels) {
        /** A worker that has no labels but its id, and takes runs from any queue, as far as is known. */
        public Joining(
                WorkerId id,
                Set<String> definitions,
                @Nullable String version,
                Duration lease,
                int lanes,
                Set<WorkerId> former) {
            this(
                    id,
                    definitions,
                    version,
                    lease,
                    lanes,
                    former,
                    Set.of(),
                    Map.of(Requirement.WORKER, id.value().toString()));
        }

        /** A worker whose process joins for the first time. */
        public Joining(WorkerId id, Set<String> definitions, @Nullable String version, Duration lease, int lanes) {
            this(id, definitions, version, lease, lanes, Set.of());
        }

        /** Whether it takes runs from this queue. */
        public boolean serves(String queue) {
            return queues.isEmpty() || queues.contains(queue);
        }
    }

    /**
     * A run that a worker holds according to the store.
     *
     * @param run the run
     * @param epoch the epoch under which the worker holds it
     */
    record Owned(RunRef run, long epoch) {}

    /**
     * Registers a worker with its lanes and its first lease, and returns the store's time. Joining twice has the same
     * effect as joining once.
     */
    Instant join(Joining worker);

    /**
     * Renews a lease.
     *
     * @param heap the heap of the worker's process, for those who look at the workers
     * @return the store's time; or null if the worker's lanes are gone: then it is dead and must release all its runs
     */
    @Nullable
    Instant renew(WorkerId worker, Heap heap);

    /**
     * Takes the runs of workers whose lease has ended. It first removes the lanes. Then it makes the runs ready again,
     * with a higher epoch and one more recovery, or pauses those that were recovered too often without a new entry.
     *
     * @param limit the number of runs to take at most
     * @return the runs that changed; fewer than the limit means that no more are left
     */
    List<RunChange> sweep(int limit);

    /** The runs that this worker holds according to the store. */
    List<Owned> owned(WorkerId worker);

    /** Ends a lease at once. The sweep takes the runs that the worker still holds. */
    void leave(WorkerId worker);
}
