package dev.perdure.spi.change;

import dev.perdure.RunState;
import dev.perdure.spi.Outcome;
import org.jspecify.annotations.Nullable;

/** What a transition does with a run that its worker holds. */
public sealed interface Move {
    /**
     * The run stays in the worker's memory; only its journal grows. Only the lane fences it: a store need not read the
     * run.
     */
    record Stay() implements Move {}

    /**
     * The run leaves memory until it is due, the mail that it waits for has arrived, or a command arrives. If the run
     * has been woken more often than the worker has seen, the store appends the entries but leaves the run with the
     * worker and answers {@link Outcome.Woken}. So no wake-up is lost.
     *
     * @param state {@link RunState#SUSPENDED} or {@link RunState#BACKING_OFF}; or {@link RunState#PENDING}, to wait
     *     again, as before it began, until the last of the tasks that it comes after has ended. If that has already
     *     ended, the run stays with the worker as well
     * @param due when it continues
     * @param awaited what it waits for apart from that
     * @param seenWakes how many wake-ups the worker has handled
     */
    record Wait(RunState state, Due due, Awaited awaited, int seenWakes) implements Move {
        /** A wait for a time only. */
        public Wait(RunState state, Due due, int seenWakes) {
            this(state, due, Awaited.NOTHING, seenWakes);
        }
    }

    /** The run leaves memory and is ready again at once, for any worker. */
    record Yield() implements Move {}

    /**
     * The run begins anew under the same id: ready, with an empty journal. Unread messages and resolved promises stay.
     * Answers to calls of the old journal no longer arrive.
     *
     * @param input its new input
     * @param seed its new seed
     * @param unpinned whether it is pinned to no version any more
     * @param definition its new definition, or null if it keeps its own
     */
    record Restart(
            Payload input,
            long seed,
            boolean unpinned,
            @Nullable String definition) implements Move {
        /** Begins anew with the same definition. */
        public Restart(Payload input, long seed, boolean unpinned) {
            this(input, seed, unpinned, null);
        }

        /** Begins anew in the version to which the run is pinned, if it is. */
        public Restart(Payload input, long seed) {
            this(input, seed, false);
        }
    }

    /**
     * The run leaves memory because this worker cannot continue it, and counts as recovered: it is ready again, or
     * paused if it was recovered too often without progress.
     *
     * @param reason what went wrong
     */
    record Recover(String reason) implements Move {}

    /**
     * The run leaves memory and waits for an operator. Like a wait, it has no effect if the run has been woken more
     * often than the worker has seen, because an operator may have resumed the run.
     *
     * @param reason what the operator needs to know
     * @param seenWakes how many wake-ups the worker has handled
     */
    record Pause(String reason, int seenWakes) implements Move {
        /** A pause that the engine makes because the run cannot continue. No wake-up prevents it. */
        public Pause(String reason) {
            this(reason, Integer.MAX_VALUE);
        }
    }

    /**
     * A call arrives at its virtual object. If the object is free, the call gets it and stays in memory. Otherwise the
     * call leaves memory and is pending, behind all calls that arrived before.
     */
    record Arrive() implements Move {}

    /**
     * The run ends.
     *
     * @param state a terminal state
     * @param outcome the result or the failure
     * @param reason a short description of why it did not complete; empty if it did
     * @param takes how many of the runs that waited only for this one the worker takes over, if it can run them; the
     *     others are ready for any worker. Of the calls of a virtual object the store hands over only the next, and
     *     returns those behind it as {@link Outcome.Applied#next}. If a batch has several ends at one object, the
     *     largest number counts
     * @param follows null for a run that the worker holds. Otherwise the run is a pending call that the worker has run
     *     ahead of its turn, and this is the call right before it, which the same batch ends. The store applies this
     *     end only if it applies that one and this call is next, because the worker ran it from the state that the
     *     other call left
     */
    record End(
            RunState state,
            Payload outcome,
            String reason,
            int takes,
            @Nullable RunRef follows) implements Move {
        /** The end of a run that the worker holds. */
        public End(RunState state, Payload outcome, String reason, int takes) {
            this(state, outcome, reason, takes, null);
        }

        /** The end of a run after which the worker takes over no other run. */
        public End(RunState state, Payload outcome, String reason) {
            this(state, outcome, reason, 0);
        }
    }
}
