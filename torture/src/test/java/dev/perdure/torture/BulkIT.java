package dev.perdure.torture;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunCount;
import dev.perdure.RunFilter;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.audit.AuditEntry.Action;
import dev.perdure.bulk.BulkAction;
import dev.perdure.bulk.BulkReport;
import dev.perdure.embedded.SharedPostgres;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.torture.setup.WorkerProcess;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A bulk action whose worker is killed in the middle of it: another one finishes it, every run is changed, and each has
 * one entry in the audit. How many runs a second it changed is printed. The size of the long form:
 * {@code -Dbulk.runs=20000 -Dbulk.kills=10}.
 */
@Timeout(value = 30, unit = TimeUnit.MINUTES)
class BulkIT {
    /** No worker has it, so its runs stay as bulk actions leave them. */
    private static final Definition<String, String> WAITS =
            Definition.of("waits", String.class, String.class, (ctx, in) -> in);

    private static final RunFilter WAITING = RunFilter.all().definition(WAITS.name());
    private static final Duration PATIENCE = Duration.ofMinutes(10);

    @Test
    @Tag("thorough")
    void a_bulk_action_is_finished_by_another_process_and_changes_each_run_once() throws Exception {
        torture(4_000, 2);
    }

    @Test
    @Tag("thorough")
    void a_bulk_action_over_many_runs_survives_many_kills() throws Exception {
        torture(Integer.getInteger("bulk.runs", 10_000), Integer.getInteger("bulk.kills", 5));
    }

    private static void torture(int count, int kills) throws Exception {
        try (SharedPostgres.Fresh database = SharedPostgres.database("bulk");
                HikariDataSource pool = SmallPool.of(database.jdbcUrl(), database.user(), database.password());
                PostgresStore store = PostgresStore.on(pool).open();
                Perdure client = Perdure.on(store).client()) {
            client.startAll(
                    IntStream.range(0, count).boxed().toList(),
                    number -> Invocation.of(WAITS, "x"),
                    number -> StartOptions.defaults());
            Change change = new Change(database, pool, client, count);
            change.make(BulkAction.pause("look at them"), 0);
            change.make(BulkAction.moveToQueue("other"), kills);
            change.make(BulkAction.kill("enough"), kills);
            assertThat(client.runs(WAITING).count()).isEqualTo(counted(RunState.CANCELLED, count));
        }
    }

    private static Map<RunState, RunCount> counted(RunState state, int count) {
        return Map.of(state, RunCount.seen(count));
    }

    /** Bulk actions over all runs, by one worker at a time. */
    private record Change(SharedPostgres.Fresh database, DataSource pool, Perdure client, int count) {
        /** Kills the worker that the bulk action is at, at equal distances, and starts another one each time. */
        void make(BulkAction action, int kills) throws Exception {
            WorkerProcess worker =
                    WorkerProcess.start(BulkWorker.class, database).ready();
            try {
                long began = System.nanoTime();
                Run<BulkReport> bulk = client.runs(WAITING).start(action);
                int interrupted = 0;
                for (int kill = 0; kill < kills; kill++) {
                    long due = (long) count * (kill + 1) / (kills + 1);
                    Awaitility.await()
                            .atMost(PATIENCE)
                            .pollInterval(Duration.ofMillis(1))
                            .until(() -> entries("count(*)", action) >= due);
                    worker.kill();
                    interrupted += bulk.state().isTerminal() ? 0 : 1;
                    worker = WorkerProcess.start(BulkWorker.class, database).ready();
                }
                assertThat(bulk.result(PATIENCE)).isEqualTo(new BulkReport(count, 0, 0, List.of()));
                double seconds = (System.nanoTime() - began) / 1e9;
                assertThat(entries("count(*)", action)).as("entries").isEqualTo(count);
                assertThat(entries("count(DISTINCT name)", action))
                        .as("runs with an entry")
                        .isEqualTo(count);
                assertThat(interrupted).as("kills in the middle of it").isGreaterThanOrEqualTo(Math.min(kills, 1));
                System.out.printf(
                        "bulk: %s of %d runs, interrupted %d times, %.0f runs a second%n",
                        action.kind(), count, interrupted, count / seconds);
            } finally {
                worker.close();
            }
        }

        private long entries(String counted, BulkAction action) throws SQLException {
            Action recorded = action.kind().moves()
                    ? Action.MOVE
                    : Action.valueOf(action.kind().name());
            try (Connection connection = pool.getConnection();
                    Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery(
                            "SELECT %s FROM perdure.audit WHERE action = '%s'".formatted(counted, recorded))) {
                row.next();
                return row.getLong(1);
            }
        }
    }
}
