package dev.perdure.internal.bulk;

import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.internal.bulk.BulkState.Reached;
import dev.perdure.spi.change.Change;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Some of the runs that a bulk action is for. It is recorded before any of them is changed, so that a crash changes
 * neither the page nor the count.
 *
 * @param runs the runs
 * @param reached where the next page begins, or null if this is the last one
 */
public record BulkPage(List<Selected> runs, @Nullable Reached reached) {
    /**
     * A run as it was found.
     *
     * @param id its id
     * @param definition its definition
     * @param createdAt when it was created
     * @param changedAt when its state last changed
     */
    public record Selected(RunId id, String definition, Instant createdAt, Instant changedAt) {
        static Selected of(RunInfo info) {
            return new Selected(info.id(), info.definition(), info.createdAt(), info.changedAt());
        }

        /** What a command has to find, so that it is left out for a run that is not the one selected any more. */
        Change.Seen seen() {
            return new Change.Seen(createdAt, changedAt);
        }
    }
}
