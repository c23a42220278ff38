package dev.perdure.spi;

import dev.perdure.queue.Queue;
import dev.perdure.queue.QueueInfo;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/**
 * Keeps the limits of queues, for all engines together. {@link Dispatch#poll} obeys them: it is the only way by which a
 * run of a limited queue begins to run.
 */
public interface QueueRules {
    /** What an operator does to a queue. */
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

        /** Lets no run be taken from the queue. */
        record Pause(String queue, String reason) implements Order {}

        /** Lets runs be taken from the queue again. */
        record Resume(String queue) implements Order {}

        /** Forgets all changes of settings. */
        record Reset(String queue) implements Order {}
    }

    /** Stores what the code declares. What operators have changed stays. */
    void declare(Collection<Queue> queues);

    /** Carries an order out; says whether the queue is known. */
    boolean apply(Order order);

    /**
     * Whether runs of the queue begin only by a poll, because it has limits or is paused. The answer may be a second old,
     * and costs nothing: engines ask before every start.
     */
    boolean limits(String queue);

    /** The limits of the queue as this store knows them, which may be a second old too; without limits if it is not known. */
    Queue known(String queue);

    /** All known queues, by name. */
    List<QueueInfo> list();

    /** One queue. */
    Optional<QueueInfo> find(String queue);

    /** The keys that have runs in the queue, those with the most waiting runs first, so many at most. */
    List<QueueInfo.Key> keys(String queue, int most);
}
