package dev.perdure.spi.change;

import dev.perdure.RunState;
import dev.perdure.spi.Outcome;
import org.jspecify.annotations.Nullable;

/** Where a transition takes a run that its worker holds. */
public sealed interface Move {
    /** It stays in the worker's memory; only the journal grows. Fenced by the lane alone: a store need not look at the run. */
    record Stay() implements Move {}

    /**
     * It leaves memory until it is due, what it waits for has arrived, or it is commanded. If it has been woken more often than the worker has seen, the entries
     * are appended but it stays, and the answer is {@link Outcome.Woken}: that is how no wake-up is lost.
     *
     * @param state {@link RunState#SUSPENDED} or {@link RunState#BACKING_OFF}; or {@link RunState#PENDING}, to wait as it
     *     did before it began, for the last of those to end that it comes after. If that has happened it stays as well
     * @param due when it goes on
     * @param awaited what it waits for besides
     * @param seenWakes the count of wake-ups the worker has acted upon
     */
    record Wait(RunState state, Due due, Awaited awaited, int seenWakes) implements Move {
        /** A wait for time alone. */
        public Wait(RunState state, Due due, int seenWakes) {
            this(state, due, Awaited.NOTHING, seenWakes);
        }
    }

    /** It leaves memory and is ready again at once, for any worker. */
    record Yield() implements Move {}

    /**
     * It begins anew under the same id: ready, with an empty journal. Unread messages and resolved promises stay; nobody
     * answers calls of the old journal any more.
     *
     * @param input its new input
     * @param seed its new seed
     */
    record Restart(Payload input, long seed) implements Move {}

    /**
     * It leaves memory because it could not be carried on here, and counts as recovered: ready again, or paused when that
     * happened too often without progress.
     *
     * @param reason what went wrong
     */
    record Recover(String reason) implements Move {}

    /**
     * It leaves memory and waits for a person. Like a wait, it is not made if the run has been woken more often than the
     * worker has seen: the pause may have been taken back.
     *
     * @param reason what the person should know
     * @param seenWakes the count of wake-ups the worker has acted upon
     */
    record Pause(String reason, int seenWakes) implements Move {
        /** A pause that nobody asked for and nobody can take back: the run cannot go on. */
        public Pause(String reason) {
            this(reason, Integer.MAX_VALUE);
        }
    }

    /**
     * A call that had not arrived at its virtual object does: it gets the object and stays in memory, or leaves it and is
     * pending, after all that came before.
     */
    record Arrive() implements Move {}

    /**
     * It ends.
     *
     * @param state a terminal state
     * @param outcome the result or the failure
     * @param reason in short, why it did not complete; empty if it did
     * @param takes how many of the runs that only waited for this one the worker goes on with itself, if it can run them;
     *     the others are ready for any. Of the calls of a virtual object only the next can be handed over: those behind it
     *     are shown as {@link Outcome.Applied#next}. Of several ends at one object the largest counts
     * @param follows null for a run that the worker holds. Otherwise it is a call that is pending, ended ahead of its turn,
     *     and this is the call right before it, whose end is in the same batch. Only if that is applied, and this one is next,
     *     is it applied too: it was made from what the other left
     */
    record End(
            RunState state,
            Payload outcome,
            String reason,
            int takes,
            @Nullable RunRef follows) implements Move {
        /** An end of a run that the worker holds. */
        public End(RunState state, Payload outcome, String reason, int takes) {
            this(state, outcome, reason, takes, null);
        }

        /** An end of which the worker takes nothing on. */
        public End(RunState state, Payload outcome, String reason) {
            this(state, outcome, reason, 0);
        }
    }
}
