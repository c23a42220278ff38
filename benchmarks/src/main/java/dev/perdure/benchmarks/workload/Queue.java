package dev.perdure.benchmarks.workload;

import dev.perdure.benchmarks.server.BenchDatabase;
import java.util.List;
import java.util.function.IntConsumer;

/** A queue of jobs that one process starts and another runs. Implementations have a constructor without parameters. */
public interface Queue {
    /** The process that starts them. */
    interface Producer extends AutoCloseable {
        /** Starts a durable job for each number, in the quickest way that the system has. */
        void start(List<Integer> numbers) throws Exception;

        @Override
        void close();
    }

    /** The process that runs them. */
    interface Consumer extends AutoCloseable {
        @Override
        void close();
    }

    /** Sets up the producer. The consumer has been set up before, so the tables exist. */
    Producer producer(BenchDatabase database) throws Exception;

    /** Sets up the consumer, which reports when a job's body begins. */
    Consumer consumer(BenchDatabase database, IntConsumer begins) throws Exception;

    /** A query for the number of unfinished jobs. */
    String unfinished();
}
