package dev.perdure.internal.history;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.spi.Runs;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.Premise;
import dev.perdure.spi.change.Recorded;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A run as it is exported.
 *
 * @param id its id
 * @param definition the name of its definition
 * @param createdAt when it was created; null in an export of an earlier version
 * @param end its state, and if it has ended, how
 * @param basis what it begins with
 * @param journal its journal, in order
 * @param tasks its tasks, if it is the run of a DAG
 */
public record ExportedRun(
        RunId id,
        String definition,
        @Nullable Instant createdAt,
        End end,
        Runs.Basis basis,
        List<Recorded> journal,
        List<Premise> tasks) {
    /**
     * How far it is.
     *
     * @param state its state
     * @param at when it entered that state
     * @param reason why it is in that state, or empty
     * @param outcome its result or failure; empty if it has not ended
     */
    public record End(RunState state, Instant at, String reason, Payload outcome) {}
}
