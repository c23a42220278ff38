package dev.perdure.torture;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Perdure;
import dev.perdure.embedded.SharedPostgres;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.torture.setup.WorkerProcess;
import dev.perdure.torture.work.Ledgers;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Processes that call objects and wait for the results are killed in the middle: whatever they were told has happened,
 * in the place that they were told, and nothing has happened twice. The long form: {@code -Dlocal.calls=2000
 * -Dlocal.kills=20}.
 */
@Timeout(value = 30, unit = TimeUnit.MINUTES)
class LocalCallerIT {
    private static final int CALLS = Integer.getInteger("local.calls", 200);
    private static final int KILLS = Integer.getInteger("local.kills", 1);
    private static final int MORE_THAN_IT_LIVES_TO_MAKE = 1_000_000;
    private static final Duration PATIENCE = Duration.ofMinutes(10);

    /** What a call gave to the process that made it. */
    private record Told(String key, int place, int number) {
        static Told parse(String line) {
            String[] words = line.split(" ", -1);
            return new Told(words[0], Integer.parseInt(words[1]), Integer.parseInt(words[2]));
        }
    }

    /** A process, and what it was told. */
    private static final class Life implements AutoCloseable {
        private final Queue<Told> told = new ConcurrentLinkedQueue<>();
        private final WorkerProcess process;
        private final Thread listener;

        /** @param calls how many it makes, if it lives so long */
        Life(SharedPostgres.Fresh database, int number, int calls) throws Exception {
            this.process = WorkerProcess.start(
                            LocalCallerWorker.class,
                            database,
                            String.valueOf(number * MORE_THAN_IT_LIVES_TO_MAKE),
                            String.valueOf(calls),
                            "shared",
                            "own-" + number)
                    .ready();
            this.listener = Thread.ofVirtual().start(this::listen);
        }

        private void listen() {
            try {
                process.says()
                        .filter(line -> Character.isDigit(line.charAt(line.length() - 1)))
                        .forEach(line -> told.add(Told.parse(line)));
            } catch (UncheckedIOException over) {
                System.out.println("The test has heard enough: " + over.getMessage());
            }
        }

        void awaitTold(int calls) {
            Awaitility.await()
                    .atMost(PATIENCE)
                    .pollDelay(Duration.ZERO)
                    .pollInterval(Duration.ofMillis(1))
                    .until(() -> told.size() >= calls);
        }

        /** Hears what it has said to the last. */
        void kill() throws IOException, InterruptedException {
            process.signal("KILL");
            process.exitCode();
            listener.join();
        }

        @Override
        public void close() {
            process.close();
        }
    }

    @Test
    @Tag("thorough")
    void what_a_caller_was_told_has_happened_once_whichever_process_is_killed() throws Exception {
        try (SharedPostgres.Fresh database = SharedPostgres.database("local_callers");
                HikariDataSource pool = SmallPool.of(database.jdbcUrl(), database.user(), database.password());
                PostgresStore store = PostgresStore.on(pool).open();
                Perdure client = Perdure.on(store).client()) {
            List<Told> told = new ArrayList<>();
            for (int kill = 0; kill < KILLS; kill++) {
                try (Life victim = new Life(database, 2 * kill, MORE_THAN_IT_LIVES_TO_MAKE);
                        Life survivor = new Life(database, 2 * kill + 1, CALLS)) {
                    // By progress, not by time: so it dies in the middle on any machine.
                    victim.awaitTold(CALLS);
                    victim.kill();
                    survivor.awaitTold(CALLS);
                    told.addAll(victim.told);
                    told.addAll(survivor.told);
                }
            }
            int recorded = 0;
            for (Map.Entry<String, List<Told>> ofKey :
                    told.stream().collect(Collectors.groupingBy(Told::key)).entrySet()) {
                List<Integer> lines = client.object(Ledgers.class, ofKey.getKey())
                        .state()
                        .get(Ledgers.LINES)
                        .orElseThrow();
                assertThat(lines).doesNotHaveDuplicates();
                assertThat(ofKey.getValue())
                        .allSatisfy(one ->
                                assertThat(lines).element(one.place() - 1).isEqualTo(one.number()));
                recorded += lines.size();
            }
            System.out.printf(
                    "local callers: %d calls acknowledged under %d kills, %d on record%n",
                    told.size(), KILLS, recorded);
        }
    }
}
