package dev.perdure.benchmarks.server;

import java.util.concurrent.atomic.LongAdder;

/**
 * Counts the round trips of all counting sockets of this process. The count is static because the driver creates the
 * sockets by class name.
 */
public final class RoundTrips {
    private static final LongAdder COUNT = new LongAdder();

    private RoundTrips() {}

    static void add() {
        COUNT.increment();
    }

    /** The number of round trips so far. */
    public static long count() {
        return COUNT.sum();
    }
}
