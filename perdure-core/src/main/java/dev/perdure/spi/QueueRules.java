package dev.perdure.spi;

import dev.perdure.queue.Queue;
import dev.perdure.queue.QueueInfo;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the limits of queues, for all engines together. {@link Dispatch#poll} applies them: a run of a limited queue
 * begins only by a poll.
 */
public interface QueueRules {
    /** A change that an operator makes to a queue. */
    sealed interface Order {
        /** The queue. */
        String queue();

        /** Changes the settings that this value has. */
        record Limit(Queue changes) implements Order {
            @Override
            public String queue() {
                return changes.name();
            }
        }

        /** Stops workers from taking runs of the queue. */
        record Pause(String queue, String reason) implements Order {}

        /** Lets workers take runs of the queue again. */
        record Resume(String queue) implements Order {}

        /** Removes all changes of settings. */
        record Reset(String queue) implements Order {}
    }

    /** Stores what the code declares. What operators have changed stays. */
    void declare(Collection<Queue> queues);

    /** Carries out a change and records it in the audit, if an entry is given. Returns whether the queue is known. */
    boolean apply(Order order, @Nullable Audit audit);

    /** Carries out a change without an entry in the audit. */
    default boolean apply(Order order) {
        return apply(order, null);
    }

    /**
     * Whether runs of the queue begin only by a poll, because it has limits or is paused. The answer may be a second
     * old. It takes no round trip, because engines ask before every start.
     */
    boolean limits(String queue);

    /**
     * The limits of the queue as this store knows them, which may be a second old too. A queue that is not known has no
     * limits.
     */
    Queue known(String queue);

    /** All known queues, and all others in which runs are ready or running, by name. */
    List<QueueInfo> list();

    /** One of them. */
    Optional<QueueInfo> find(String queue);

    /** The keys that have runs in the queue, at most this many. Keys with the most waiting runs come first. */
    List<QueueInfo.Key> keys(String queue, int most);
}
