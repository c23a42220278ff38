package dev.perdure.benchmarks.dbos;

import dev.dbos.transact.DBOS;
import dev.dbos.transact.workflow.Workflow;
import dev.perdure.benchmarks.measure.Burst;
import dev.perdure.benchmarks.server.BenchDatabase;
import dev.perdure.benchmarks.server.Observer;
import dev.perdure.benchmarks.workload.Sleepers;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicInteger;

/** Sleeping workflows of DBOS. Many callers start them one by one, because DBOS has no call that starts many. */
public final class DbosSleepers implements Sleepers {
    private static final int CALLERS = 64;
    /** Counting takes the server a millisecond or more. */
    private static final Duration POLL = Duration.ofMillis(20);

    /** The interface of which DBOS makes a proxy. */
    public interface Sleeper {
        void sleep(long millis);
    }

    private static final class Implementation implements Sleeper {
        private final DBOS dbos;

        Implementation(DBOS dbos) {
            this.dbos = dbos;
        }

        @Override
        @Workflow(name = "sleeper")
        public void sleep(long millis) {
            dbos.sleep(Duration.ofMillis(millis));
        }
    }

    private final Observer observer;
    private final DBOS dbos;
    private final Sleeper sleeper;
    private long wanted;

    private DbosSleepers(BenchDatabase database) throws SQLException {
        observer = new Observer(database);
        dbos = new DBOS(DbosSteps.config(database));
        sleeper = dbos.registerProxy(Sleeper.class, new Implementation(dbos));
        dbos.launch();
    }

    /** Sets up an executor. */
    public static Sleepers open(BenchDatabase database) throws SQLException {
        return new DbosSleepers(database);
    }

    @Override
    public void sleep(int count, Instant until) throws Exception {
        AtomicInteger left = new AtomicInteger(count);
        Burst.seconds(CALLERS, () -> {
            while (left.getAndDecrement() > 0) {
                long millis = Sleepers.until(until).toMillis();
                dbos.startWorkflow(() -> sleeper.sleep(millis));
            }
        });
        wanted += count;
        // DBOS records a sleep as a step before it begins.
        await("SELECT count(*) FROM dbos.operation_outputs", wanted);
    }

    @Override
    public void awaitEnded(long count) throws Exception {
        await("SELECT count(*) FROM dbos.workflow_status WHERE status = 'SUCCESS'", count);
    }

    private void await(String query, long count) throws SQLException, InterruptedException {
        while (observer.number(query) < count) {
            Thread.sleep(POLL);
        }
    }

    @Override
    public void close() throws SQLException {
        dbos.close();
        observer.close();
    }
}
