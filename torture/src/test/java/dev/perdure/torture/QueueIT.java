package dev.perdure.torture;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.StartOptions;
import dev.perdure.embedded.SharedPostgres;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.queue.Queue;
import dev.perdure.queue.QueueInfo;
import dev.perdure.torture.setup.OutsideLedger;
import dev.perdure.torture.setup.OutsideLedger.Line;
import dev.perdure.torture.setup.Site;
import dev.perdure.torture.setup.WorkerProcess;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A queue with limits whose workers are killed: the most that were ever begun at once, by a ledger outside and the
 * server's clock, is the limit, and not less, or the test would show nothing. And work goes on: at no time do all
 * bodies stand still for as long as a lease and a half, although a killed process keeps its places until its lease has
 * ended. The long form: {@code -Dqueues.runs=20000 -Dqueues.kills=100 -Dcrash.floor=true}.
 */
@Timeout(value = 30, unit = TimeUnit.MINUTES)
class QueueIT {
    private static final Duration PATIENCE = Duration.ofMinutes(20);
    private static final Duration STANDSTILL = Site.LEASE.multipliedBy(3).dividedBy(2);

    @Test
    @Tag("thorough")
    void never_more_than_the_limits_are_begun_whichever_process_is_killed() throws Exception {
        // So few keys that two runs of one are begun at once, although the keys take turns.
        torture(3, 12, Integer.getInteger("queues.runs", 400), Integer.getInteger("queues.kills", 3));
    }

    @Test
    @Tag("thorough")
    void never_more_than_the_limits_are_begun_with_eight_processes() throws Exception {
        torture(8, 50, Integer.getInteger("queues.runs", 4_000), Integer.getInteger("queues.kills", 20));
    }

    @Test
    @Tag("thorough")
    void never_more_than_the_limit_are_begun_without_keys_with_eight_processes() throws Exception {
        torture(8, 0, Integer.getInteger("queues.runs", 2_000), Integer.getInteger("queues.kills", 10));
    }

    /** @param keys over how many keys the runs are spread; 0 for a queue without keys */
    private static void torture(int processes, int keys, int runs, int kills) throws Exception {
        try (SharedPostgres.Fresh database = SharedPostgres.database("queues");
                HikariDataSource pool = SmallPool.of(database.jdbcUrl(), database.user(), database.password());
                PostgresStore store = PostgresStore.on(pool).open();
                Perdure client = Perdure.on(store)
                        .declare(QueueWorker.QUEUE, QueueWorker.UNKEYED)
                        .client()) {
            Queue queue = keys == 0 ? QueueWorker.UNKEYED : QueueWorker.QUEUE;
            OutsideLedger ledger = new OutsideLedger(pool);
            ledger.create();
            client.startAll(
                    IntStream.range(0, runs).boxed().toList(),
                    number -> Invocation.of(QueueWorker.definition(ledger), run(number, keys)),
                    number -> {
                        StartOptions options =
                                StartOptions.id(run(number, keys)).queue(queue.name());
                        return keys == 0 ? options : options.key(keyOf(run(number, keys)));
                    });
            List<WorkerProcess> workers = new ArrayList<>();
            Instant from = ledger.now();
            try {
                for (int i = 0; i < processes; i++) {
                    workers.add(WorkerProcess.start(QueueWorker.class, database));
                }
                for (WorkerProcess worker : workers) {
                    worker.ready();
                }
                Random chance = new Random(Long.getLong("crash.seed", 42));
                new LivenessFloor(ledger, 0.9).around(() -> {
                    long before = left(client, queue);
                    for (int kill = 0; kill < kills; kill++) {
                        // By progress, not by time: so there is something left to be done at every kill, on any
                        // machine.
                        long due = before - before * kill / (2L * kills);
                        Awaitility.await().atMost(PATIENCE).until(() -> left(client, queue) <= due);
                        int victim = chance.nextInt(processes);
                        workers.get(victim).kill();
                        workers.set(
                                victim,
                                WorkerProcess.start(QueueWorker.class, database).ready());
                    }
                });
                Awaitility.await().atMost(PATIENCE).until(() -> left(client, queue) == 0);
            } finally {
                workers.forEach(WorkerProcess::close);
            }
            check(ledger.lines(), runs, keys);
            Duration took = Duration.between(from, ledger.now());
            System.out.printf(
                    "queues: %d runs of %d keys in %d processes under %d kills in %d ms; at most %d at once, and %d of one key; the longest standstill %d ms%n",
                    runs,
                    keys,
                    processes,
                    kills,
                    took.toMillis(),
                    mostAtOnce(ledger.lines(), run -> true),
                    mostOfAKey(ledger.lines()),
                    longestStandstill(ledger.lines()).toMillis());
        }
    }

    private static String run(int number, int keys) {
        return "run-" + number + "-key-" + (keys == 0 ? 0 : number % keys);
    }

    private static String keyOf(String run) {
        return run.substring(run.indexOf("key-"));
    }

    private static int mostOfAKey(List<Line> lines) {
        return lines.stream()
                .map(line -> keyOf(line.run()))
                .distinct()
                .mapToInt(key -> mostAtOnce(lines, run -> keyOf(run).equals(key)))
                .max()
                .orElseThrow();
    }

    private static long left(Perdure client, Queue queue) {
        QueueInfo.Load load = client.queues().get(queue.name()).load();
        return load.waiting() + load.begun();
    }

    private static void check(List<Line> lines, int runs, int keys) {
        assertThat(lines.stream().map(Line::run).distinct()).hasSize(runs);
        assertThat(mostAtOnce(lines, run -> true)).as("begun at once").isEqualTo(QueueWorker.AT_ONCE);
        if (keys > 0) {
            assertThat(mostOfAKey(lines)).as("begun at once of one key").isEqualTo(QueueWorker.PER_KEY);
        }
        assertThat(longestStandstill(lines)).as("without a line of any run").isLessThan(STANDSTILL);
    }

    private static Duration longestStandstill(List<Line> lines) {
        List<Instant> times = lines.stream().map(Line::at).sorted().toList();
        return IntStream.range(1, times.size())
                .mapToObj(i -> Duration.between(times.get(i - 1), times.get(i)))
                .max(Comparator.naturalOrder())
                .orElseThrow();
    }

    /**
     * A run that has begun holds its place from its first line to its last, however often its workers died between
     * them.
     */
    private static int mostAtOnce(List<Line> lines, Predicate<String> which) {
        Map<String, Instant> first = new HashMap<>();
        Map<String, Instant> last = new HashMap<>();
        for (Line line : lines) {
            if (which.test(line.run())) {
                first.merge(line.run(), line.at(), (one, other) -> one.isBefore(other) ? one : other);
                last.merge(line.run(), line.at(), (one, other) -> one.isBefore(other) ? other : one);
            }
        }
        Map<Instant, Integer> changes = new TreeMap<>();
        first.values().forEach(at -> changes.merge(at, 1, Integer::sum));
        last.values().forEach(at -> changes.merge(at, -1, Integer::sum));
        int now = 0;
        int most = 0;
        for (int change : changes.values()) {
            now += change;
            most = Math.max(most, now);
        }
        return most;
    }
}
