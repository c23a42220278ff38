package dev.perdure.spi.change;

import dev.perdure.RunId;
import dev.perdure.attribute.AttributeValue;
import dev.perdure.attribute.Description;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What a transition does outside its own run, in the same transaction. Each effect has an identity (the id and seed of
 * a new run, the token of a mail, a position of the run), so that applying a transition twice does it once. The store
 * skips an effect whose other run does not exist or has ended.
 */
public sealed interface Effect {
    /**
     * Starts a run. If another run has the id, a parent that waits for the new run gets that failure as the answer. If
     * another run has the id of a task, the store refuses the whole transition.
     *
     * @param run the new run
     * @param tasks the tasks that start with it, as in {@link Change.Start}
     * @param mails the mail that it finds in its mailbox, as in {@link Change.Start}: another run that has the id does
     *     not get it
     */
    record Start(NewRun run, List<Task> tasks, List<Mail> mails) implements Effect {
        /** A run without tasks and mail. */
        public Start(NewRun run) {
            this(run, List.of());
        }

        /** A run without mail. */
        public Start(NewRun run, List<Task> tasks) {
            this(run, tasks, List.of());
        }
    }

    /**
     * Sends a mail: a message or the value of a promise. For answers use {@link Change.Deliver}, which names their
     * life.
     *
     * @param to the receiving run
     * @param mail the mail
     */
    record Deliver(RunId to, Mail mail) implements Effect {
        /** Checks that the mail is not an answer. */
        public Deliver {
            if (mail.channel().kind() == Channel.Kind.ANSWER) {
                throw new IllegalArgumentException(
                        "An answer to run '%s' is no effect: it is delivered by a change that names its life."
                                .formatted(to));
            }
        }
    }

    /**
     * Asks a run to end, as {@link Change.CommandKind#CANCEL} does.
     *
     * @param run the run
     * @param reason the reason
     */
    record Cancel(RunId run, String reason) implements Effect {}

    /**
     * Takes a mail out of the run's own mailbox.
     *
     * @param number the number of the mail
     */
    record Take(long number) implements Effect {}

    /**
     * Publishes a value of the run.
     *
     * @param name the name under which it publishes
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
     * @param key the key of the events; empty for all
     * @param position the position of the call
     */
    record Subscribe(String event, String key, int position) implements Effect {}

    /**
     * Sets a value of the virtual object that the run holds.
     *
     * @param name the name of the value
     * @param payload the value
     */
    record SetState(String name, Payload payload) implements Effect {}

    /**
     * Removes a value of the virtual object that the run holds.
     *
     * @param name the name of the value
     */
    record ClearState(String name) implements Effect {}

    /** Removes all values of the virtual object that the run holds. */
    record ClearAllState() implements Effect {}

    /**
     * Sets or removes an attribute of the run.
     *
     * @param name its name
     * @param value its value, or null if it is removed
     */
    record SetAttribute(String name, @Nullable AttributeValue value) implements Effect {
        /** The description of the run afterwards. */
        public Description in(Description before) {
            Map<String, AttributeValue> after = new TreeMap<>(before.attributes());
            if (value == null) {
                after.remove(name);
            } else {
                after.put(name, value);
            }
            return new Description(after, before.memo(), before.status(), before.headers());
        }
    }

    /**
     * Sets the status of the run.
     *
     * @param text the status
     */
    record SetStatus(String text) implements Effect {}

    /**
     * Keeps a change of a run of another shard until it has arrived there: see {@link dev.perdure.spi.shard.Exchange}. The
     * store does not read it.
     *
     * @param token identifies it, so that it is kept once
     * @param partition the partition of that run
     * @param change the change without its value
     * @param value the value, which may refer to a large payload; empty if it has none
     */
    record Send(UUID token, int partition, Payload change, Payload value) implements Effect {}
}
