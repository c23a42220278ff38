package dev.perdure;

import dev.perdure.audit.Operator;
import dev.perdure.bulk.EncryptedValues;
import dev.perdure.bulk.SelectedRuns;
import dev.perdure.error.RetryRefusedException;
import dev.perdure.error.UnknownRunException;
import dev.perdure.queue.Limiters;
import dev.perdure.queue.Queues;
import dev.perdure.reaction.Reactions;
import dev.perdure.retention.Retentions;
import dev.perdure.schedule.Schedules;
import dev.perdure.version.Versions;
import org.jspecify.annotations.Nullable;

/**
 * What operators look at and change. The audit records every command that changes something under the name of the
 * operator of these operations: see {@link Perdure#as(Operator)}. Thread-safe.
 */
public interface Operations {
    /**
     * A handle to an existing run.
     *
     * @throws UnknownRunException if there is none
     */
    <R extends @Nullable Object> Run<R> run(RunId id, TypeRef<R> resultType);

    /**
     * Lets a run that failed or was cancelled begin anew, under the same id and with the same input: also one that has
     * compensated. Its journal is empty again, so all its steps run again, with new idempotency keys; {@link Run#history()}
     * still shows its former life. Messages, promises and awakeables of that life are gone. Its timeout counts from now.
     * The run of a DAG begins anew with all its tasks.
     *
     * @throws RetryRefusedException if it has not ended, or has completed and is no DAG, is a task or a call of a virtual object,
     *     the run that called it has got its outcome, or another run has its deduplication key now
     * @throws UnknownRunException if there is none
     */
    void rerun(RunId id);

    /** The runs that a filter selects: to list them, to count them, and to change them all at once. */
    SelectedRuns runs(RunFilter filter);

    /** The values that are stored encrypted: to encrypt them with another key. */
    EncryptedValues encryptedValues();

    /** The queues: what waits in them, and their limits. */
    Queues queues();

    /** The schedules: made, looked at and changed at run time. */
    Schedules schedules();

    /** The limiters of steps: what waits for them, and their limits. */
    Limiters limiters();

    /** The versions of workers: which runs are pinned to them, and which of them drain. */
    Versions versions();

    /** The reactions: workflows that start when something happens to a run. */
    Reactions reactions();

    /** How long runs are kept after their end. */
    Retentions retention();
}
