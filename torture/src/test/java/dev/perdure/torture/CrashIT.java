package dev.perdure.torture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.StartOptions;
import dev.perdure.embedded.SharedPostgres;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.torture.setup.OutsideLedger;
import dev.perdure.torture.setup.WorkerProcess;
import dev.perdure.torture.work.Steps;
import dev.perdure.torture.work.Steps.Values;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Real worker processes, killed while they work, and how soon others go on. */
@Timeout(value = 30, unit = TimeUnit.MINUTES)
class CrashIT {
    private static final int RUNS = Integer.getInteger("crash.runs", 60);
    private static final Duration PATIENCE = Duration.ofMinutes(3);

    @Test
    @Tag("thorough")
    void a_dead_workers_runs_go_on_within_two_leases_of_the_end_of_its_own() throws Exception {
        try (Stage stage = new Stage()) {
            List<Run<Values>> runs = stage.start(RUNS);
            await().pollInterval(Duration.ofMillis(1)).until(() -> stage.heldByTheFirst() > 0);
            stage.workers.get(0).kill();
            long killed = System.nanoTime();
            assertThat(stage.heldByTheFirst())
                    .as("runs that the dead worker held")
                    .isPositive();
            stage.workers.add(
                    WorkerProcess.start(CrashWorker.class, stage.database).ready());
            long possible = Math.max(killed + CrashWorker.LEASE.toNanos(), System.nanoTime());
            while (stage.heldByTheFirst() > 0) {
                assertThat(Duration.ofNanos(System.nanoTime() - possible))
                        .as("time until nothing is held by the dead worker, since another could take it")
                        .isLessThan(CrashWorker.LEASE.multipliedBy(2));
                pause(Duration.ofMillis(20));
            }
            System.out.printf(
                    "takeover: %d ms%n",
                    Duration.ofNanos(System.nanoTime() - killed).toMillis());
            stage.awaitAll(runs);
            new Invariants(stage.ledger).hold(stage.client, runs);
        }
    }

    private static void pause(Duration duration) {
        LockSupport.parkNanos(duration.toNanos());
    }

    /** A database, a client, and workers. */
    private static final class Stage implements AutoCloseable {
        private final SharedPostgres.Fresh database = SharedPostgres.database("crash");
        private final HikariDataSource pool =
                CrashWorker.pool(database.jdbcUrl(), database.user(), database.password());
        private final PostgresStore store = PostgresStore.on(pool).open();
        private final Perdure client = Perdure.on(store).client();
        private final OutsideLedger ledger = new OutsideLedger(pool);
        private final List<WorkerProcess> workers = new ArrayList<>();

        Stage() throws Exception {
            ledger.create();
            workers.add(WorkerProcess.start(CrashWorker.class, database).ready());
        }

        List<Run<Values>> start(int count) {
            List<Integer> inputs = IntStream.range(0, count).boxed().toList();
            return new ArrayList<>(client.startAll(
                    inputs, input -> Invocation.of(Steps.definition(ledger), input), input -> StartOptions.defaults()));
        }

        int heldByTheFirst() throws Exception {
            try (var connection = pool.getConnection();
                    var statement = connection.prepareStatement("SELECT count(*) FROM perdure.held WHERE worker = 1");
                    var row = statement.executeQuery()) {
                row.next();
                return row.getInt(1);
            }
        }

        void awaitAll(List<Run<Values>> runs) {
            for (Run<Values> run : runs) {
                run.result(PATIENCE);
            }
        }

        @Override
        public void close() {
            workers.forEach(WorkerProcess::close);
            client.close();
            store.close();
            pool.close();
            database.close();
        }
    }
}
