package dev.perdure.spi;

import dev.perdure.RunId;
import dev.perdure.RunState;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Control;
import dev.perdure.spi.change.Move;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import java.time.Instant;
import java.util.List;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/** What became of a {@link Change}. Only ever given after the commit. */
public sealed interface Outcome {
    /**
     * The run was started, by this change.
     *
     * @param run the new run
     * @param owned whether it is running under its first epoch in the worker that asked; false when it is ready
     * @param at when
     * @param handed tasks that were born with it and that the worker now holds
     * @param state all that the virtual object knows that it holds, by name; null if it holds none, or if the store did not
     *     look: then it has to be asked
     */
    record Started(
            RunRef run,
            boolean owned,
            Instant at,
            List<Dispatch.Claimed> handed,
            @Nullable SortedMap<String, Payload> state)
            implements Outcome {
        /** The epoch of a run that is born owned. */
        public static final long FIRST_EPOCH = 1;

        /** A start of which no state is told. */
        public Started(RunRef run, boolean owned, Instant at, List<Dispatch.Claimed> handed) {
            this(run, owned, at, handed, null);
        }

        /** A start without tasks. */
        public Started(RunRef run, boolean owned, Instant at) {
            this(run, owned, at, List.of());
        }

        /** The same start with what its object knows. */
        public Started knowing(SortedMap<String, Payload> known) {
            return new Started(run, owned, at, handed, known);
        }
    }

    /**
     * A run with this id is there already, from another start.
     *
     * @param run the existing run
     * @param definition what it runs
     * @param sameInput whether its input has the same bytes
     */
    record Existing(RunRef run, String definition, boolean sameInput) implements Outcome {}

    /**
     * Done.
     *
     * @param at the commit's time, and that of the entries appended
     * @param state the state the run is in now
     * @param handed runs that waited for this one to end, and that the worker now holds
     * @param next calls of the same virtual object that wait behind the one handed over, in their order, as they would be
     *     held. The worker could run them and does not hold them: it may work ahead, and end them after one another with
     *     {@link Move.End#follows}
     */
    record Applied(Instant at, RunState state, List<Dispatch.Claimed> handed, List<Dispatch.Claimed> next)
            implements Outcome {
        /** Nobody is shown that waits. */
        public Applied(Instant at, RunState state, List<Dispatch.Claimed> handed) {
            this(at, state, handed, List.of());
        }

        /** Nothing was handed over. */
        public Applied(Instant at, RunState state) {
            this(at, state, List.of());
        }
    }

    /**
     * The command was carried out, or left on the row of a run that a worker holds, or came too late to do anything.
     *
     * @param at when
     * @param state the state the run is in now
     * @param changed whether it is this very command that has brought the run there
     */
    record Commanded(Instant at, RunState state, boolean changed) implements Outcome {}

    /**
     * This transition had been applied before; its answer was lost.
     *
     * @param at when it was
     * @param state the state it led to
     */
    record AlreadyThere(Instant at, RunState state) implements Outcome {}

    /**
     * The run was to wait, and had been woken meanwhile: the entries were appended, but the worker still holds it.
     *
     * @param at the time of the entries appended
     * @param control what has been asked of it
     */
    record Woken(Instant at, Control control) implements Outcome {}

    /** The worker does not hold this run any more. Nothing was applied. */
    record Fenced() implements Outcome {}

    /** There is no such run. */
    record UnknownRun() implements Outcome {}

    /**
     * The mail was not put into the mailbox.
     *
     * @param why why not
     */
    record Undelivered(Why why) implements Outcome {
        /** Why a mail does not arrive. */
        public enum Why {
            /** The run has ended. */
            ENDED,
            /** Somebody else was first, where only one mail arrives. */
            TAKEN,
            /** It is for a life that is over: the run has begun anew since. */
            BEGAN_ANEW
        }
    }

    /**
     * The store cannot hold this change. Nothing of it was applied; its neighbours were.
     *
     * @param reason why
     */
    record Refused(String reason) implements Outcome {
        /** A start whose task has an id that is not free. */
        public static Refused taskIdTaken(RunId task) {
            return new Refused("The id '%s' of one of its tasks is taken by another run. Start it under another id."
                    .formatted(task));
        }

        /** A rerun of a run that has no tasks. */
        public static Refused taskless(RunId run) {
            return new Refused("The run '%s' has no tasks. Start a new run instead.".formatted(run));
        }

        /** A rerun of something that has not ended. */
        public static Refused active(RunId run, RunState state) {
            return new Refused("The run '%s' is %s. Wait until it has ended, or cancel it.".formatted(run, state));
        }

        /** A rerun of somebody else's task. */
        public static Refused noTaskOf(RunId task, RunId run) {
            return new Refused("The run '%s' is no task of '%s'. Name tasks of that run only.".formatted(task, run));
        }
    }
}
