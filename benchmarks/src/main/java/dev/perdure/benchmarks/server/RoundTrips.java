package dev.perdure.benchmarks.server;

import java.util.concurrent.atomic.LongAdder;

/** The round trips of all counting sockets of this process. The driver makes those sockets by the name of a class, so the count is static. */
public final class RoundTrips {
    private static final LongAdder COUNT = new LongAdder();

    private RoundTrips() {}

    static void add() {
        COUNT.increment();
    }

    /** So far. */
    public static long count() {
        return COUNT.sum();
    }
}
