package dev.perdure.queue;

import dev.perdure.error.UnknownQueueException;
import java.util.List;

/**
 * Shows operators the queues, and lets them change the limits. A change takes effect in all processes within a second, or
 * within two if the store is divided among several servers, and stays in effect after a deploy until it is reset.
 * Thread-safe.
 *
 * <pre>{@code
 * perdure.queues().pause("imports", "the bank's API is down");
 * perdure.queues().limit(Queue.named("imports").concurrency(5));
 * }</pre>
 */
public interface Queues {
    /** The declared queues, and all others while runs wait in them or are at work, by name. */
    List<QueueInfo> list();

    /**
     * One queue.
     *
     * @throws UnknownQueueException if it is not declared, and no run waits in it or is at work
     */
    QueueInfo get(String queue);

    /**
     * The keys that have runs in a queue. Keys with the most waiting runs come first.
     *
     * @param most how many keys at most
     * @throws UnknownQueueException if the queue is not declared, and no run waits in it or is at work
     */
    List<QueueInfo.Key> keys(String queue, int most);

    /** Declares a queue, as an engine does when it starts. What operators have changed stays. */
    void declare(Queue queue);

    /**
     * Changes the settings that this value has; the others stay as they are.
     *
     * @throws UnknownQueueException if the queue is not declared
     */
    void limit(Queue changes);

    /**
     * Lets workers take no run from the queue until {@link #resume}. Runs that a worker holds in memory continue until
     * they wait for longer than the warm window.
     *
     * @throws UnknownQueueException if the queue is not declared
     */
    void pause(String queue, String reason);

    /**
     * Lets workers take runs from the queue again.
     *
     * @throws UnknownQueueException if the queue is not declared
     */
    void resume(String queue);

    /**
     * Removes all changes by operators, so that the limits are those that the code declares. A paused queue stays
     * paused.
     *
     * @throws UnknownQueueException if the queue is not declared
     */
    void reset(String queue);
}
