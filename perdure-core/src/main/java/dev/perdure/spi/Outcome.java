package dev.perdure.spi;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Control;
import dev.perdure.spi.change.FullKey;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import java.time.Instant;
import java.util.List;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/** The outcome of a {@link Change}. The store returns it only after the commit. */
public sealed interface Outcome {
    /**
     * This change started the run.
     *
     * @param run the new run
     * @param owned whether the worker of the batch holds it, under its first epoch; false if it is ready
     * @param at when it was started
     * @param handed tasks that started with it and that the worker now holds
     * @param state all values of the virtual object that it holds, by name; null if it holds none, or if the store did
     *     not read them: then the worker has to ask for them
     */
    record Started(
            RunRef run,
            boolean owned,
            Instant at,
            List<Dispatch.Claimed> handed,
            @Nullable SortedMap<String, Payload> state)
            implements Outcome {
        /** The epoch of a run that a worker holds from its start. */
        public static final long FIRST_EPOCH = 1;

        /** A start without the values of an object. */
        public Started(RunRef run, boolean owned, Instant at, List<Dispatch.Claimed> handed) {
            this(run, owned, at, handed, null);
        }

        /** A start without tasks. */
        public Started(RunRef run, boolean owned, Instant at) {
            this(run, owned, at, List.of());
        }

        /** The same start with the values of its object. */
        public Started knowing(SortedMap<String, Payload> known) {
            return new Started(run, owned, at, handed, known);
        }
    }

    /**
     * A run with this id exists already, from another start.
     *
     * @param run the existing run
     * @param definition the name of its definition
     * @param sameInput whether its input has the same bytes, or it has restarted: what it was started with is gone then
     */
    record Existing(RunRef run, String definition, boolean sameInput) implements Outcome {}

    /**
     * Another run has the key of this start, and the start is to be refused in this case. The store has started
     * nothing.
     *
     * @param run that run
     */
    record KeyTaken(RunRef run) implements Outcome {}

    /**
     * The key of the queue has no place for this run, and the queue refuses the start. The store has started nothing.
     *
     * @param key that key
     */
    record KeyFull(FullKey key) implements Outcome {}

    /**
     * The change was applied.
     *
     * @param at the time of the commit and of the appended entries
     * @param state the state the run is in now
     * @param handed runs that waited for this one to end, and that the worker now holds
     * @param next calls of the same virtual object that wait behind the one handed over, in their order, as if the
     *     worker held them. The worker can run them but does not hold them: it may run them ahead of their turn and end
     *     them in order with {@link Move.End#follows}
     */
    record Applied(Instant at, RunState state, List<Dispatch.Claimed> handed, List<Dispatch.Claimed> next)
            implements Outcome {
        /** An outcome without waiting calls. */
        public Applied(Instant at, RunState state, List<Dispatch.Claimed> handed) {
            this(at, state, handed, List.of());
        }

        /** An outcome that hands nothing over. */
        public Applied(Instant at, RunState state) {
            this(at, state, List.of());
        }
    }

    /**
     * The store has carried out the command, or left it on the row of a run that a worker holds, or the command came
     * too late.
     *
     * @param at when
     * @param state the state the run is in now
     * @param changed whether this command changed the state
     * @param accepted whether it has an effect: it changed the state or waits on the row, now or when the same command
     *     came before, which its audit entry tells
     */
    record Commanded(Instant at, RunState state, boolean changed, boolean accepted) implements Outcome {}

    /**
     * This transition was applied before, and its answer was lost.
     *
     * @param at when it was applied
     * @param state the state it led to
     */
    record AlreadyThere(Instant at, RunState state) implements Outcome {}

    /**
     * The run was about to wait, but was woken meanwhile. The store has appended the entries, and the worker still
     * holds the run.
     *
     * @param at the time of the appended entries
     * @param control the requests for it
     */
    record Woken(Instant at, Control control) implements Outcome {}

    /** The worker no longer holds this run. The store has applied nothing. */
    record Fenced() implements Outcome {}

    /**
     * What the change is about moves from one shard to another. The store has applied nothing of it, and the other changes
     * of the batch: send this one again after a while.
     */
    record Moving() implements Outcome {}

    /** The run is no longer as the change was made from it: see {@link Change.Fork}. The store has applied nothing. */
    record Outdated() implements Outcome {}

    /** There is no such run. */
    record UnknownRun() implements Outcome {}

    /**
     * The store did not put the mail into the mailbox.
     *
     * @param why the reason
     */
    record Undelivered(Why why) implements Outcome {
        /** The reason why a mail does not arrive. */
        public enum Why {
            /** The run has ended. */
            ENDED,
            /** Another mail arrived first, on a channel that takes only one. */
            TAKEN,
            /** The mail is for an earlier life: the run has begun anew since. */
            BEGAN_ANEW
        }
    }

    /**
     * The store cannot apply this change. It has applied the other changes of the batch, but nothing of this one.
     *
     * @param reason why
     */
    record Refused(String reason) implements Outcome {
        /** A start with a task whose id another run has. */
        public static Refused taskIdTaken(RunId task) {
            return new Refused("The id '%s' of one of its tasks is taken by another run. Start it under another id."
                    .formatted(task));
        }

        /** A rerun of a task that has not ended. */
        public static Refused active(RunId run, RunState state) {
            return new Refused("The run '%s' is %s. Wait until it has ended, or cancel it.".formatted(run, state));
        }

        /** A run whose retention is over: what it recorded is removed, and only its outcome may still be there. */
        public static Refused removed(RunId run) {
            return new Refused(
                    "The retention of run '%s' is over, and what it recorded was removed. Start a new run instead."
                            .formatted(run));
        }

        /** A rerun of a task that belongs to another run. */
        public static Refused noTaskOf(RunId task, RunId run) {
            return new Refused("The run '%s' is no task of '%s'. Name tasks of that run only.".formatted(task, run));
        }
    }
}
