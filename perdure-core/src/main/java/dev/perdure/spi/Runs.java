package dev.perdure.spi;

import dev.perdure.RunCount;
import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.audit.AuditEntry;
import dev.perdure.audit.AuditFilter;
import dev.perdure.internal.text.Reserved;
import dev.perdure.spi.change.NewRun;
import dev.perdure.spi.change.ObjectCall;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.Premise;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.shard.RunSelection;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Queries about runs, for handles and operators. */
public interface Runs {
    /** What the definitions of the engine's own runs begin with. */
    String OF_THE_ENGINE = Reserved.NAMES;

    /**
     * A run that was found.
     *
     * @param ref its id and key
     * @param info its state and attributes
     */
    record Found(RunRef ref, RunInfo info) {}

    /**
     * How a run ended.
     *
     * @param run the run
     * @param state a terminal state
     * @param outcome the result or the failure
     * @param reason in short, why it did not complete; empty if it did
     * @param removed whether the run is not there any more, so that its state and outcome are not known
     */
    record Ended(RunRef run, RunState state, Payload outcome, String reason, boolean removed) {
        /** A run that is there. */
        public Ended(RunRef run, RunState state, Payload outcome, String reason) {
            this(run, state, outcome, reason, false);
        }

        /** A run that is not there any more. */
        public static Ended removed(RunRef run) {
            return new Ended(run, RunState.CANCELLED, Payload.EMPTY, "", true);
        }
    }

    /**
     * A task or a child of a run.
     *
     * @param run the run
     * @param info its state and attributes
     * @param after the indexes of the tasks that it comes after; empty for a child
     * @param outcome its result or failure; empty if it has not ended
     * @param history the states that it has been in, in all its lives, oldest first
     */
    record TaskRow(RunRef run, RunInfo info, List<Integer> after, Payload outcome, List<Entered> history) {}

    /**
     * A task or a child of a run, as lists show it.
     *
     * @param run the run
     * @param info its state and attributes
     * @param after the ids of the tasks that it comes after; empty for a child
     * @param history the first {@value #SHOWN_STATES} states that it has been in, in all its lives, oldest first, without
     *     reasons
     */
    record Below(RunRef run, RunInfo info, List<RunId> after, List<Entered> history) {
        /** How many states the history has at most. */
        public static final int SHOWN_STATES = 100;
    }

    /**
     * A place in the list of the tasks or the children of a run.
     *
     * @param createdAt when the run before it was created
     * @param key the key of that run
     */
    record BelowPlace(Instant createdAt, long key) {
        /** The beginning of the list. */
        public static final BelowPlace FIRST = new BelowPlace(Instant.EPOCH, 0);
    }

    /**
     * A page of the tasks or the children of a run.
     *
     * @param runs the runs; fewer than were asked for, or none, if the store has looked at many others to find them
     * @param next where the next page begins; empty if this is the last one
     */
    record BelowPage(List<Below> runs, Optional<BelowPlace> next) {}

    /**
     * A state that a run entered.
     *
     * @param state the state
     * @param at when
     * @param reason why, or empty
     */
    record Entered(RunState state, Instant at, String reason) {}

    /**
     * A run with what it recorded last.
     *
     * @param run the run
     * @param info its state and attributes
     * @param recorded the last value in its journal, or its input if it has recorded none
     */
    record Latest(RunRef run, RunInfo info, Payload recorded) {}

    /**
     * What a run begins with, apart from its journal.
     *
     * @param version the version that it is pinned to, or null
     * @param input its input in its current life
     * @param seed the seed of its ids and random numbers in its current life
     * @param deadline when its timeout ends, or null
     * @param premises how the tasks that it comes after ended, in their order; empty for a run that is no task
     * @param object the virtual object that it calls, or null
     */
    record Basis(
            @Nullable String version,
            Payload input,
            long seed,
            @Nullable Instant deadline,
            List<Premise> premises,
            @Nullable ObjectCall object) {}

    /** One run by its id. */
    Optional<Found> find(RunId id);

    /** A page of the runs that a filter selects, in the order of their creation and, of one instant, their ids. */
    List<RunInfo> list(RunSelection selection);

    /** The same in a store that has all runs. */
    default List<RunInfo> list(RunFilter filter) {
        return list(new RunSelection(filter));
    }

    /** How many runs a filter selects, by state, without states of which there are none. */
    Map<RunState, RunCount> count(RunSelection selection);

    /** The same in a store that has all runs. */
    default Map<RunState, RunCount> count(RunFilter filter) {
        return count(new RunSelection(filter));
    }

    /** One run by its id, with what it recorded last. */
    Optional<Latest> latest(RunId id);

    /**
     * Runs whose ids begin with a text, in the order of their ids by UTF-8, each with what it recorded last.
     *
     * @param prefix what the ids begin with; not empty, and its last character is ASCII
     * @param after the id after which to begin, or the prefix for the first page
     * @param limit how many at most
     */
    List<Latest> latest(String prefix, String after, int limit);

    /** The input of a run; empty if the run does not exist. */
    Optional<Payload> input(RunRef run);

    /**
     * The settings of a run as they are now, without those that count only until it begins: its delay, its start key, and
     * the time within which it has to begin. The input is empty, and there is no parent and no object.
     */
    Optional<NewRun> settings(RunId run);

    /** What a run begins with; empty if the run does not exist. */
    Optional<Basis> basis(RunRef run);

    /** Those of these runs that have ended, or are not there any more. One query for all waiters of a process. */
    List<Ended> ended(Collection<RunRef> runs);

    /**
     * The children of these runs that have not ended. In place of a child that was cancelled, those below it: a kill
     * that was interrupted has ended that child alone. Children of a run that completed or failed continue without it.
     *
     * @return each once
     */
    List<RunRef> liveChildren(Collection<RunRef> parents);

    /** The tasks of this run, in the order of its start. */
    List<TaskRow> tasks(RunRef run);

    /** All children that the current life of this run has started, oldest first, without its tasks. */
    List<TaskRow> children(RunRef run);

    /**
     * A page of the tasks of this run, in the order of its start. Reads a bounded number of rows, however many tasks there
     * are.
     *
     * @param after where to begin
     * @param limit how many at most
     */
    BelowPage tasks(RunRef run, BelowPlace after, int limit);

    /**
     * A page of the children that the current life of this run has started, oldest first, without its tasks. Reads a
     * bounded number of rows, too. A child that is started between two pages is on the second.
     *
     * @param after where to begin
     * @param limit how many at most
     */
    BelowPage children(RunRef run, BelowPlace after, int limit);

    /**
     * A call that waits for a virtual object.
     *
     * @param number its number in the order of arrival
     * @param run the run that it is
     */
    record WaitingCall(long number, RunInfo run) {}

    /** The run that holds a virtual object, if there is one. */
    Optional<RunInfo> holder(ObjectKey object);

    /**
     * The calls that wait for a virtual object, in the order of their turns.
     *
     * @param after the number after which to begin; 0 for the first page
     * @param limit how many at most
     */
    List<WaitingCall> waitingCalls(ObjectKey object, long after, int limit);

    /** The states that a run has entered, oldest first, through all its lives. */
    List<Entered> entered(RunRef run);

    /**
     * A state that a run entered, with its place.
     *
     * @param number its number in the order of the run's states, from 0; there may be gaps
     * @param entered the state
     */
    record NumberedState(int number, Entered entered) {}

    /**
     * Some of these states.
     *
     * @param after the number after which to begin; -1 for the first page
     * @param limit how many at most
     */
    List<NumberedState> entered(RunRef run, int after, int limit);

    /** What the audit has recorded, newest first. */
    List<AuditEntry> audited(AuditFilter filter);

    /**
     * A text that differs from an earlier one if anything in the store has changed since. It may also differ if nothing
     * has. Asking reads no table, so that somebody who looks on can ask once a second.
     */
    String mark();
}
