package dev.perdure.benchmarks.workload;

import dev.perdure.benchmarks.server.Site;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;

/** Something that can let workflows sleep, set up in this process. */
public interface Sleepers extends AutoCloseable {
    /** How long a start that begins now has to sleep, to wake at a moment. */
    static Duration until(Instant moment) {
        Duration left = Duration.between(Instant.now(), moment);
        return left.isNegative() ? Duration.ZERO : left;
    }

    /** Starts so many workflows that sleep until then and end; returns when all sleep, durably. */
    void sleep(int count, Instant until) throws Exception;

    /** Waits until so many have ended since the set-up. */
    void awaitEnded(long count) throws Exception;

    @Override
    void close() throws SQLException;

    /** Sets one up on an empty database. */
    @FunctionalInterface
    interface Factory {
        Sleepers open(Site site) throws Exception;
    }
}
