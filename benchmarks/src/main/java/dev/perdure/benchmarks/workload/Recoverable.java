package dev.perdure.benchmarks.workload;

import dev.perdure.benchmarks.server.Site;
import java.util.function.IntConsumer;

/**
 * Workflows of five steps and a sixth, in a process that is killed in the sixth, and in its successor. Implementations
 * have a constructor without parameters.
 */
public interface Recoverable {
    /** How many steps are done when the process is killed. */
    int STEPS = 5;

    /** A process in which they run. */
    interface Host extends AutoCloseable {
        /** Starts so many, numbered from zero; returns when all are started. */
        void start(int count) throws Exception;

        @Override
        void close();
    }

    /** Sets it up; what was left behind goes on by itself. Tells when a sixth step begins, and stays in it until told back. */
    Host open(Site site, IntConsumer sixth) throws Exception;

    /** A query for the number of workflows that are not finished. */
    String unfinished();
}
