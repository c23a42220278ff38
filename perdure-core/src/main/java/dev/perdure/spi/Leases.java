package dev.perdure.spi;

import dev.perdure.RunChange;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.change.WorkerId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Who is alive, and what becomes of the runs of those who are not. */
public interface Leases {
    /**
     * A worker that joins.
     *
     * @param id its random id
     * @param definitions what it can run
     * @param version its version, or null
     * @param lease how long it counts as alive without renewing
     * @param lanes how many batches it sends at once
     * @param former which workers its process was before: they let go of everything, and did not die
     */
    record Joining(
            WorkerId id,
            Set<String> definitions,
            @Nullable String version,
            Duration lease,
            int lanes,
            Set<WorkerId> former) {
        /** A worker of a process that joins for the first time. */
        public Joining(WorkerId id, Set<String> definitions, @Nullable String version, Duration lease, int lanes) {
            this(id, definitions, version, lease, lanes, Set.of());
        }
    }

    /**
     * A run that a worker holds according to the store.
     *
     * @param run the run
     * @param epoch under which it holds it
     */
    record Owned(RunRef run, long epoch) {}

    /** Makes a worker known, with its lanes and its first lease. Joining twice is joining once. Gives the store's time. */
    Instant join(Joining worker);

    /**
     * Renews a lease.
     *
     * @return the store's time, or null if the worker's lanes are gone: it is dead and must let go of everything
     */
    @Nullable
    Instant renew(WorkerId worker);

    /**
     * Takes runs from workers whose lease has ended: first removes the lanes, then makes the runs ready again with a higher
     * epoch and one more recovery, or pauses them when they were recovered too often without a new entry.
     *
     * @param limit at most this many runs
     * @return the runs that changed; fewer than the limit means that nothing is left to do
     */
    List<RunChange> sweep(int limit);

    /** What the store believes this worker holds. */
    List<Owned> owned(WorkerId worker);

    /** Ends a lease at once. What the worker still holds is left to the sweep. */
    void leave(WorkerId worker);
}
