package dev.perdure.spi.change;

import dev.perdure.RunId;
import dev.perdure.spi.Outcome;
import dev.perdure.spi.Runs;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** One atomic change to the store. Applying the same change twice does what applying it once does. */
public sealed interface Change {
    /**
     * Starts a run. With an owner it is born running in that worker's memory, otherwise ready for any.
     *
     * @param run the run
     * @param owner the worker of this batch, or null
     * @param mails what is in its mailbox from the beginning
     * @param tasks the runs that are born with it, each after those that it comes after. If there are any, the run itself
     *     is pending until the last of them has ended, and the owner gets the tasks that begin at once. Without an owner,
     *     these wait for the delay of the run, if it has one. A task whose id
     *     is another run's makes the whole start {@link Outcome.Refused}
     */
    record Start(NewRun run, @Nullable WorkerId owner, List<Mail> mails, List<Task> tasks) implements Change {
        /** A start of a run without tasks. */
        public Start(NewRun run, @Nullable WorkerId owner, List<Mail> mails) {
            this(run, owner, mails, List.of());
        }

        /** A start with an empty mailbox. */
        public Start(NewRun run, @Nullable WorkerId owner) {
            this(run, owner, List.of());
        }
    }

    /**
     * A transition of a run that the worker of this batch holds: append these entries, then make this move.
     *
     * @param run the run
     * @param epoch the epoch under which the worker holds it
     * @param entries in order; may be empty
     * @param effects what it does beyond the run, in order; may be empty
     * @param move where it goes
     */
    record Advance(RunRef run, long epoch, List<Entry> entries, List<Effect> effects, Move move) implements Change {
        /** A transition without effects. */
        public Advance(RunRef run, long epoch, List<Entry> entries, Move move) {
            this(run, epoch, entries, List.of(), move);
        }
    }

    /**
     * A call of a virtual object from its start to its end, which the worker of this batch has run ahead of its turn and of
     * which the store knows nothing yet. It has no parent, no delay and no timeout. Applied only if the call right before it
     * is ended by the same batch and nobody waits for the object but those it names; otherwise {@link Outcome.Fenced}, and
     * nothing of it is there. Of those that follow one another all are applied or none.
     *
     * @param run the call, exclusive
     * @param entries what it has recorded
     * @param effects what it does to the state, in order
     * @param end how it ended; takes nothing on
     * @param follows the call from whose state it was run: held until its end in this batch, or one like this
     * @param beside calls that may wait for the object all the same, because nobody was told of them before this one was made
     */
    record Whole(NewRun run, List<Entry> entries, List<Effect> effects, Move.End end, RunId follows, Set<RunId> beside)
            implements Change {
        /** One that nobody may wait beside. */
        public Whole(NewRun run, List<Entry> entries, List<Effect> effects, Move.End end, RunId follows) {
            this(run, entries, effects, end, follows, Set.of());
        }
    }

    /**
     * Puts a mail into a run's mailbox, and lets the run go on if it waits for that.
     *
     * @param to whose
     * @param mail what
     * @param life the life of the run that it is for, or {@link #ANY_LIFE}. If the run has begun anew since, the mail is
     *     {@link Outcome.Undelivered}. An answer is always for one life, because the next one has other calls at its positions
     * @param operator the person who gives this answer in place of whoever has the token, to be found in the
     *     {@linkplain Runs#changes history}; null for all other mail
     */
    record Deliver(RunId to, Mail mail, int life, @Nullable String operator) implements Change {
        /** The mail is for the run, however often it begins anew. */
        public static final int ANY_LIFE = -1;

        /** Mail for one life, or for any. */
        public Deliver {
            if (mail.channel().kind() == Channel.Kind.ANSWER && life == ANY_LIFE) {
                throw new IllegalArgumentException(
                        "An answer is for one life of run '%s'. Name the life of the call that it answers."
                                .formatted(to));
            }
        }

        /** A message or the value of a promise, which are for the run in whatever life. */
        public Deliver(RunId to, Mail mail) {
            this(to, mail, ANY_LIFE);
        }

        /** Mail for one life, or for any, that no operator sends. */
        public Deliver(RunId to, Mail mail, int life) {
            this(to, mail, life, null);
        }

        /** Whether it is for a run in this life. */
        public boolean isFor(int present) {
            return life == ANY_LIFE || life == present;
        }
    }

    /**
     * What a person or another program wants of a run. Takes effect at once on a run that no worker holds; is left on the
     * row, with the wake count raised, for the worker that does.
     *
     * @param run the run
     * @param order what is wanted
     * @param reason why; empty for {@link Order#RESUME}
     */
    record Command(RunId run, Order order, String reason) implements Change {}

    /**
     * Gives a run that has tasks, and some of these, another life under the same ids: with their inputs, and with nothing
     * of what they did. Refused unless it and these tasks have ended. Knows itself again by the seed.
     *
     * @param run the run that was started with tasks
     * @param tasks which of them begin anew; the others keep how they ended
     * @param seed the run's new seed; those of the tasks follow from it
     */
    record Rerun(RunId run, List<RunId> tasks, long seed) implements Change {
        /** The new seed of a task. */
        public long seedOf(long oldSeed) {
            return oldSeed ^ seed;
        }
    }

    /** What can be wanted of a run. */
    enum Order {
        /** Deliver a cancel. */
        CANCEL,
        /** End it without its say. */
        KILL,
        /** Hold it. */
        PAUSE,
        /** Let a paused run go on. */
        RESUME,
        /** Fail a call of a virtual object that still waits for its turn, and that can never have it. */
        REFUSE
    }
}
