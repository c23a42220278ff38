package dev.perdure.benchmarks.dbscheduler;

import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.SchedulerClient;
import com.github.kagkarlsson.scheduler.task.TaskInstance;
import com.github.kagkarlsson.scheduler.task.helper.OneTimeTask;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.benchmarks.server.BenchDatabase;
import dev.perdure.benchmarks.workload.Queue;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.IntConsumer;

/** db-scheduler across processes: with lock-and-fetch, which it recommends for throughput on PostgreSQL. */
public final class DbSchedulerQueue implements Queue {
    private static final int THREADS = 50;
    private static final int CLIENT_CONNECTIONS = 10;

    /** The table of db-scheduler for PostgreSQL, without the index that only priorities need. */
    private static final String TABLE = """
            CREATE TABLE IF NOT EXISTS scheduled_tasks (
                task_name text NOT NULL,
                task_instance text NOT NULL,
                task_data bytea,
                execution_time timestamptz NOT NULL,
                picked boolean NOT NULL,
                picked_by text,
                last_success timestamptz,
                last_failure timestamptz,
                consecutive_failures int,
                last_heartbeat timestamptz,
                version bigint NOT NULL,
                priority smallint,
                PRIMARY KEY (task_name, task_instance)
            );
            CREATE INDEX IF NOT EXISTS execution_time_idx ON scheduled_tasks (execution_time);
            CREATE INDEX IF NOT EXISTS last_heartbeat_idx ON scheduled_tasks (last_heartbeat);
            """;

    private static OneTimeTask<Integer> job(IntConsumer begins) {
        return Tasks.oneTime("job", Integer.class).execute((instance, context) -> begins.accept(instance.getData()));
    }

    @Override
    public Producer producer(BenchDatabase database) {
        HikariDataSource pool = database.pool(CLIENT_CONNECTIONS);
        OneTimeTask<Integer> job = job(number -> {});
        SchedulerClient client = SchedulerClient.Builder.create(pool, job).build();
        return new Producer() {
            @Override
            public void start(List<Integer> numbers) {
                List<TaskInstance<?>> instances = new ArrayList<>();
                numbers.forEach(
                        number -> instances.add(job.instance(UUID.randomUUID().toString(), number)));
                client.scheduleBatch(instances, Instant.now());
            }

            @Override
            public void close() {
                pool.close();
            }
        };
    }

    @Override
    public Consumer consumer(BenchDatabase database, IntConsumer begins) throws SQLException {
        database.execute(TABLE);
        HikariDataSource pool = database.pool(THREADS);
        Scheduler scheduler = Scheduler.create(pool, job(begins))
                .threads(THREADS)
                .pollUsingLockAndFetch(1.0, 4.0)
                .shutdownMaxWait(Duration.ofSeconds(5))
                .build();
        scheduler.start();
        return () -> {
            scheduler.stop();
            pool.close();
        };
    }

    @Override
    public String unfinished() {
        return "SELECT count(*) FROM scheduled_tasks";
    }
}
