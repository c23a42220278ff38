package dev.perdure.queue;

import java.time.Instant;
import java.util.Optional;

/**
 * A queue as the store has it.
 *
 * @param declared what the code declares
 * @param changed what operators have changed since; it has only the settings that they changed
 * @param paused why the queue is paused, if it is
 * @param load what waits and runs
 * @param known whether operators can change it: the code has declared it, or workers have taken runs with keys from it. A
 *     queue that is not known has no limits, and exists while runs wait in it or are at work
 */
public record QueueInfo(Queue declared, Queue changed, Optional<String> paused, Load load, boolean known) {
    /** Its name. */
    public String name() {
        return declared.name();
    }

    /** The limits that hold: what the code declares, with what operators have changed. */
    public Queue limits() {
        return declared.with(changed);
    }

    /**
     * The waiting and running runs of a queue, or of one key of it.
     *
     * @param waiting how many runs are ready and wait for a worker or for a place
     * @param oldest when the oldest of them became ready
     * @param begun how many have begun and have not ended. Runs that sleep or wait are among them if they keep a place:
     *     in queues with limits that count {@link Queue.Counting#BEGUN}. In a queue without limits, only those are that a
     *     worker holds
     * @param atWork how many of these a worker holds
     * @param lastMinute how many workers took in the last full minute. Runs without a key count only in queues with
     *     limits, and where runs with keys wait: to count all others would make every claim slower
     */
    public record Load(long waiting, Optional<Instant> oldest, long begun, long atWork, long lastMinute) {}

    /**
     * A key that has runs in a queue.
     *
     * @param key the key; empty for the runs without one
     * @param load what waits and runs under it
     */
    public record Key(String key, Load load) {}
}
