package dev.perdure.spi.change;

import dev.perdure.RunId;
import java.util.List;

/**
 * What a transition does beyond its own run, in the same transaction. Each effect names itself (by the id and seed of a new
 * run, the token of a mail, a position of the run), so that applying a transition twice does it once. One that cannot be
 * carried out, because the other run is not there or has ended, is left out.
 */
public sealed interface Effect {
    /**
     * Starts a run. If the id is taken by another, a parent that waits for the new run is answered with that failure. If that
     * of a task is taken, the whole transition is refused.
     *
     * @param run the new run
     * @param tasks what is born with it, as in {@link Change.Start}
     */
    record Start(NewRun run, List<Task> tasks) implements Effect {
        /** A run without tasks. */
        public Start(NewRun run) {
            this(run, List.of());
        }
    }

    /**
     * Sends a mail: a message, or the value of a promise. Answers go by {@link Change.Deliver}, which names the life they are for.
     *
     * @param to to whom
     * @param mail what
     */
    record Deliver(RunId to, Mail mail) implements Effect {
        /** A mail that is for the run in whatever life. */
        public Deliver {
            if (mail.channel().kind() == Channel.Kind.ANSWER) {
                throw new IllegalArgumentException(
                        "An answer to run '%s' is no effect: it is delivered by a change that names its life."
                                .formatted(to));
            }
        }
    }

    /**
     * Asks a run to end, as {@link Change.Order#CANCEL} does.
     *
     * @param run which
     * @param reason why
     */
    record Cancel(RunId run, String reason) implements Effect {}

    /**
     * Takes a mail out of the run's own mailbox.
     *
     * @param number its number there
     */
    record Take(long number) implements Effect {}

    /**
     * Appends to what the run shows to the world.
     *
     * @param name under which name
     * @param position the position of the call
     * @param payload the value
     */
    record Publish(String name, int position, Payload payload) implements Effect {}

    /**
     * Lets the holder of a token answer a call of this run.
     *
     * @param hash the token's hash; the token itself is stored nowhere
     * @param position the position of the call
     */
    record Awakeable(String hash, int position) implements Effect {}

    /**
     * Lets events of a name answer a call of this run.
     *
     * @param event the name
     * @param key only those with this key; empty for all
     * @param position the position of the call
     */
    record Subscribe(String event, String key, int position) implements Effect {}

    /**
     * Sets a value of the virtual object that the run holds.
     *
     * @param name which
     * @param payload to what
     */
    record SetState(String name, Payload payload) implements Effect {}

    /**
     * Removes a value of the virtual object that the run holds.
     *
     * @param name which
     */
    record ClearState(String name) implements Effect {}

    /** Removes all values of the virtual object that the run holds. */
    record ClearAllState() implements Effect {}
}
