package dev.perdure.spi;

import dev.perdure.HistoryEvent;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/** Questions about runs, from handles and operators. */
public interface Runs {
    /**
     * A run that was found.
     *
     * @param ref how to speak of it
     * @param info what it is
     */
    record Found(RunRef ref, RunInfo info) {}

    /**
     * How a run ended.
     *
     * @param run the run
     * @param state a terminal state
     * @param outcome the result or the failure
     * @param reason in short, why it did not complete; empty if it did
     */
    record Ended(RunRef run, RunState state, Payload outcome, String reason) {}

    /**
     * A run that was born with another, or started by it.
     *
     * @param run the run
     * @param info what it is
     * @param after the places of those that it comes after; none of one that was started later
     * @param outcome its result or failure; empty if it has not ended
     * @param history the states it has been in, oldest first, through all its lives
     */
    record TaskRow(RunRef run, RunInfo info, List<Integer> after, Payload outcome, List<Entered> history) {}

    /**
     * A state that a run entered.
     *
     * @param state the state
     * @param at when
     * @param reason why, or empty
     */
    record Entered(RunState state, Instant at, String reason) {}

    /** One run by its id. */
    Optional<Found> find(RunId id);

    /** Runs, newest first. */
    List<RunInfo> list(RunFilter filter);

    /** What a run was started with; empty if it is not there. */
    Optional<Payload> input(RunRef run);

    /** Those of these runs that have ended: one question for all waiters of a process. */
    List<Ended> ended(Collection<RunRef> runs);

    /** The runs that these have started and that have not ended. */
    List<RunRef> liveChildren(Collection<RunRef> parents);

    /** The runs that were born with this one, in the order of its start; none if it was started without. */
    List<TaskRow> tasks(RunRef run);

    /** The runs that the present life of this one has started, oldest first; its tasks are not among them. */
    List<TaskRow> children(RunRef run);

    /** The changes of state of a run, and the answers that operators gave it, oldest first, through all its lives. */
    List<HistoryEvent> changes(RunRef run);
}
