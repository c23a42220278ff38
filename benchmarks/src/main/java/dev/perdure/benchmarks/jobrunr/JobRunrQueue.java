package dev.perdure.benchmarks.jobrunr;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.benchmarks.server.Site;
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

/** JobRunr across processes, as it is by default: a virtual thread per job, a poll every 15 seconds. */
public final class JobRunrQueue implements Queue {
    private static final int CONNECTIONS = 10;

    /** One job. Public and with a constructor for its JSON. */
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

    /** What runs a job. */
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

    /** Gives JobRunr the handler that tells. */
    private record Activator(Handler handler) implements JobActivator {
        @Override
        public <T> T activateJob(Class<T> type) {
            return type.cast(handler);
        }
    }

    @Override
    public Producer producer(Site site) {
        HikariDataSource pool = site.pool(CONNECTIONS);
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
    public Consumer consumer(Site site, IntConsumer begins) {
        HikariDataSource pool = site.pool(CONNECTIONS);
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
