package dev.perdure.postgres.inbox;

import dev.perdure.RunId;
import dev.perdure.postgres.inbox.InboxReader.Asked;
import dev.perdure.spi.change.Change;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Divides the changes that were taken from the inbox into batches, in order. No batch has two changes of one run,
 * except deliveries to a run that is known to exist: the ledger makes those last, in their order. If the run of a
 * change does not exist or its partition moves, the later changes for it wait for the next time, because the run may appear at any moment. Its
 * start does not wait.
 */
final class InboxBatches {
    private final List<Asked> rest;
    private final Set<RunId> there = new HashSet<>();
    private final Set<RunId> missing = new HashSet<>();

    /** Divides these changes, which are in order. */
    InboxBatches(List<Asked> taken) {
        this.rest = new ArrayList<>(taken);
    }

    /** Records the outcome of a change: whether its run is there to be changed. */
    void answered(RunId run, boolean isThere) {
        (isThere ? there : missing).add(run);
    }

    /** The next batch; empty if there is none. */
    List<Asked> next() {
        rest.removeIf(asked -> missing.contains(asked.run()) && !(asked.change() instanceof Change.Start));
        int size = 0;
        Set<RunId> runs = new HashSet<>();
        while (size < rest.size() && joins(rest.get(size), runs)) {
            size++;
        }
        List<Asked> begun = rest.subList(0, size);
        List<Asked> batch = List.copyOf(begun);
        begun.clear();
        return batch;
    }

    private boolean joins(Asked asked, Set<RunId> runs) {
        return runs.add(asked.run()) || (asked.change() instanceof Change.Deliver && there.contains(asked.run()));
    }
}
