package dev.perdure.benchmarks.workload;

import dev.perdure.benchmarks.server.BenchDatabase;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;

/** A system that runs sleeping workflows, set up in this process. */
public interface Sleepers extends AutoCloseable {
    /** How long a workflow that starts now has to sleep to wake at this time. */
    static Duration until(Instant moment) {
        Duration left = Duration.between(Instant.now(), moment);
        return left.isNegative() ? Duration.ZERO : left;
    }

    /** Starts this many workflows that sleep until then and end. Returns when all sleeps are durable. */
    void sleep(int count, Instant until) throws Exception;

    /** Waits until this many workflows have ended since the set-up. */
    void awaitEnded(long count) throws Exception;

    @Override
    void close() throws SQLException;

    /** Sets up a system on an empty database. */
    @FunctionalInterface
    interface Factory {
        Sleepers open(BenchDatabase database) throws Exception;
    }
}
