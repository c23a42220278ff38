package dev.perdure.spi;

import java.time.Duration;
import java.time.Instant;

/**
 * The source of time, waiting, threads and randomness for the engine, so that a test can control them. There are two
 * times. Workflows see and sleep by the wall time of {@link #now()}. The engine does its housekeeping (leases, polls,
 * back-off from a lost database) by the monotonic time of {@link #nanoTime()}. Virtual time moves only the first.
 */
public interface Clockwork {
    /** Longer than any wait. */
    long NEVER = Long.MAX_VALUE;

    /**
     * The wall time of this process, which never jumps. If it differs from the store's time, the store's time counts.
     */
    Instant now();

    /** Monotonic time for housekeeping. */
    long nanoTime();

    /** 64 random bits. */
    long random();

    /** A new flag that threads can wait for. */
    Signal signal();

    /** Runs a task in a virtual thread of its own. */
    void fork(String name, Runnable task);

    /** Runs one of the engine's few long loops, in a platform daemon thread. */
    void loop(String name, Runnable task);

    /** Lets other runnable threads go first. Does nothing where only one thread runs at a time. */
    default void giveWay() {}

    /**
     * Lets other threads go first until one of them raises the flag, but not for longer than a short time. Does nothing
     * where only one thread runs at a time.
     */
    default void giveWay(Signal signal, Duration atMost) {}

    /** Interrupts a thread that {@link #fork} has started, or the caller's own. */
    default void interrupt(Thread thread) {
        thread.interrupt();
    }

    /**
     * Runs a short task after a delay of real time. Step bodies run in real time, also in tests.
     *
     * @return cancels the alarm
     */
    Runnable alarm(Duration delay, Runnable task);

    /** A flag that threads wait for. A wait returns at once if the flag was raised before, and lowers it. */
    interface Signal {
        /** Raises the flag: the current wait returns, or else the next. */
        void raise();

        /**
         * Waits until the flag is raised, a workflow's timer ends, or housekeeping is due.
         *
         * @param timerNanos nanoseconds of wall time until the workflow's timer ends; {@link #NEVER} for none
         * @param housekeepingNanos nanoseconds of monotonic time until housekeeping is due; {@link #NEVER} for none
         * @return whether the flag was raised
         * @throws InterruptedException if the thread is interrupted, now or before
         */
        boolean await(long timerNanos, long housekeepingNanos) throws InterruptedException;
    }
}
