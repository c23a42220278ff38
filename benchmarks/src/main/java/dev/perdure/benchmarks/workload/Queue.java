package dev.perdure.benchmarks.workload;

import dev.perdure.benchmarks.server.Site;
import java.util.List;
import java.util.function.IntConsumer;

/** Jobs that are started in one process and run in another. Implementations have a constructor without parameters. */
public interface Queue {
    /** The process that starts them. */
    interface Producer extends AutoCloseable {
        /** Starts a job for each number, durably, by whatever is quickest. */
        void start(List<Integer> numbers) throws Exception;

        @Override
        void close();
    }

    /** The process that runs them. */
    interface Consumer extends AutoCloseable {
        @Override
        void close();
    }

    /** Sets the one side up. The other has been set up before, so tables are there. */
    Producer producer(Site site) throws Exception;

    /** Sets the other side up, which tells when a job's body begins. */
    Consumer consumer(Site site, IntConsumer begins) throws Exception;

    /** A query for the number of jobs that are not finished. */
    String unfinished();
}
