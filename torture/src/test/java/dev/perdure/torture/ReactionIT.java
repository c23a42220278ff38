package dev.perdure.torture;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.RunFilter;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.embedded.SharedPostgres;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.torture.setup.WorkerProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Workers are killed while their runs become late and fail. The workers do not declare the reactions: the client does.
 * Each run has exactly one run of the reaction to its failure, and one of the reaction to its lateness.
 */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
@Tag("thorough")
class ReactionIT {
    private static final int PROCESSES = 3;
    private static final int RUNS = 200;
    private static final int KILLS = 2;
    private static final Duration PATIENCE = Duration.ofMinutes(5);

    @Test
    void every_failed_and_late_run_has_one_reaction_whichever_process_is_killed() throws Exception {
        try (SharedPostgres.Fresh database = SharedPostgres.database("reactions");
                HikariDataSource pool = SmallPool.of(database.jdbcUrl(), database.user(), database.password());
                PostgresStore store = PostgresStore.on(pool).open();
                Perdure client = Perdure.on(store)
                        .reactions(ReactionWorker.FAILED, ReactionWorker.SLOW)
                        .client()) {
            List<WorkerProcess> workers = new ArrayList<>();
            try {
                for (int i = 0; i < PROCESSES; i++) {
                    workers.add(WorkerProcess.start(ReactionWorker.class, database));
                }
                for (WorkerProcess worker : workers) {
                    worker.ready();
                }
                client.startAll(
                        IntStream.range(0, RUNS).boxed().toList(),
                        number -> Invocation.of(ReactionWorker.ORDER, "item-" + number),
                        number -> StartOptions.id("order-" + number));
                Random chance = new Random(Long.getLong("crash.seed", 42));
                for (int kill = 0; kill < KILLS; kill++) {
                    int due = RUNS * kill / KILLS + 1;
                    Awaitility.await().atMost(PATIENCE).until(() -> ended(client, "order") >= due);
                    int victim = chance.nextInt(PROCESSES);
                    workers.get(victim).kill();
                    workers.set(
                            victim,
                            WorkerProcess.start(ReactionWorker.class, database).ready());
                }
                Awaitility.await().atMost(PATIENCE).until(() -> ended(client, "order") == RUNS);
                Awaitility.await().atMost(PATIENCE).until(() -> ended(client, "alert") >= 2L * RUNS);
                List<RunInfo> alerts = client.runs(
                                RunFilter.all().definition("alert").limit(1_000))
                        .list();
                assertThat(alerts).hasSize(2 * RUNS).allMatch(alert -> alert.state() == RunState.COMPLETED);
                assertThat(alerts)
                        .extracting(alert -> alert.id().value().replaceFirst("#.*", ""))
                        .containsExactlyInAnyOrderElementsOf(Stream.of("failed", "slow")
                                .flatMap(reaction -> IntStream.range(0, RUNS)
                                        .mapToObj(number -> "reaction:%s:order-%d".formatted(reaction, number)))
                                .toList());
            } finally {
                workers.forEach(WorkerProcess::close);
            }
        }
    }

    private static long ended(Perdure client, String definition) {
        return client.runs(RunFilter.all()
                        .definition(definition)
                        .state(RunState.FAILED, RunState.COMPLETED)
                        .limit(1_000))
                .list()
                .size();
    }
}
