package dev.perdure.benchmarks.jobrunr;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.benchmarks.server.BenchDatabase;
import dev.perdure.benchmarks.workload.Queue;
import java.util.List;
import java.util.function.IntConsumer;
import org.jobrunr.configuration.JobRunr;
import org.jobrunr.jobs.lambdas.JobRequest;
import org.jobrunr.jobs.lambdas.JobRequestHandler;
import org.jobrunr.scheduling.JobRequestScheduler;
import org.jobrunr.server.BackgroundJobServer;
import org.jobrunr.server.JobActivator;
import org.jobrunr.storage.sql.common.SqlStorageProviderFactory;

/** JobRunr across processes, with its defaults: a virtual thread per job, a poll every 15 seconds. */
public final class JobRunrQueue implements Queue {
    private static final int CONNECTIONS = 10;

    /** A job. It is public and has a constructor without parameters because JobRunr stores it as JSON. */
    public static final class Job implements JobRequest {
        private static final long serialVersionUID = 1;

        private int number;

        /** For JSON. */
        public Job() {}

        Job(int number) {
            this.number = number;
        }

        public int getNumber() {
            return number;
        }

        public void setNumber(int value) {
            number = value;
        }

        @Override
        public Class<Handler> getJobRequestHandler() {
            return Handler.class;
        }
    }

    /** Runs a job. */
    public static final class Handler implements JobRequestHandler<Job> {
        private final IntConsumer begins;

        Handler(IntConsumer begins) {
            this.begins = begins;
        }

        @Override
        public void run(Job job) {
            begins.accept(job.getNumber());
        }
    }

    /** Gives JobRunr the handler that reports when a job begins. */
    private record Activator(Handler handler) implements JobActivator {
        @Override
        public <T> T activateJob(Class<T> type) {
            return type.cast(handler);
        }
    }

    @Override
    public Producer producer(BenchDatabase database) {
        HikariDataSource pool = database.pool(CONNECTIONS);
        JobRequestScheduler scheduler = JobRunr.configure()
                .useStorageProvider(SqlStorageProviderFactory.using(pool))
                .initialize()
                .getJobRequestScheduler();
        return new Producer() {
            @Override
            public void start(List<Integer> numbers) {
                scheduler.enqueue(numbers.stream().map(Job::new));
            }

            @Override
            public void close() {
                pool.close();
            }
        };
    }

    @Override
    public Consumer consumer(BenchDatabase database, IntConsumer begins) {
        HikariDataSource pool = database.pool(CONNECTIONS);
        BackgroundJobServer server = JobRunr.configure()
                .useJobActivator(new Activator(new Handler(begins)))
                .useStorageProvider(SqlStorageProviderFactory.using(pool))
                .useBackgroundJobServer()
                .initialize()
                .getBackgroundJobServer();
        return () -> {
            server.stop();
            pool.close();
        };
    }

    @Override
    public String unfinished() {
        return "SELECT count(*) FROM jobrunr_jobs WHERE state IN ('ENQUEUED', 'PROCESSING')";
    }
}
