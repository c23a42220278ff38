package dev.perdure.spi;

import java.time.Duration;
import java.time.Instant;

/**
 * Where the engine gets time, waiting, threads and chance from, so that a test can own them. There are two times: the
 * wall time of {@link #now()}, which workflows see and sleep by, and the monotonic time of {@link #nanoTime()}, by which
 * the engine keeps house (leases, polls, back-off from a lost database). Virtual time moves the first only.
 */
public interface Clockwork {
    /** Longer than any wait. */
    long NEVER = Long.MAX_VALUE;

    /** The wall time of this process, which never jumps. Where it differs from the store's time, the store's counts. */
    Instant now();

    /** Monotonic time for housekeeping. */
    long nanoTime();

    /** 64 random bits. */
    long random();

    /** Something to wait for. */
    Signal signal();

    /** Runs a task in a thread of its own: a virtual one. */
    void fork(String name, Runnable task);

    /** Runs one of the engine's few long loops, in a platform daemon thread. */
    void loop(String name, Runnable task);

    /** Lets threads that can run go first. Where only one runs at a time there is nothing to do. */
    default void giveWay() {}

    /**
     * Runs a short task after a delay of real time, which is the time that step bodies live in, also in tests.
     *
     * @return takes the alarm back
     */
    Runnable alarm(Duration delay, Runnable task);

    /** A flag that threads wait for. Raising it before the wait counts; a wait takes it down. */
    interface Signal {
        /** Lets one wait through: the present one or the next. */
        void raise();

        /**
         * Waits until raised, until a workflow's timer ends, or until it is time to keep house.
         *
         * @param timerNanos nanoseconds of wall time until the workflow's timer; {@link #NEVER} for none
         * @param housekeepingNanos nanoseconds of monotonic time; {@link #NEVER} for none
         * @return whether it was raised
         * @throws InterruptedException if the thread is interrupted, now or before
         */
        boolean await(long timerNanos, long housekeepingNanos) throws InterruptedException;
    }
}
