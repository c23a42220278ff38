package dev.perdure.torture;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.RunFilter;
import dev.perdure.RunState;
import dev.perdure.StartOptions;
import dev.perdure.embedded.SharedPostgres;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.queue.LimiterInfo;
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
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A limiter of steps whose workers are killed: the most bodies that were ever at work at once, by a ledger outside and
 * the server's clock, is the limit, and not less, or the test would show nothing. And no permit is lost: all runs end,
 * and at no time do all bodies stand still for as long as two leases. The long form: {@code -Dlimiters.runs=2000
 * -Dlimiters.kills=50}.
 */
@Timeout(value = 30, unit = TimeUnit.MINUTES)
class LimiterIT {
    private static final Duration PATIENCE = Duration.ofMinutes(10);
    /** How much later than its permit a body has its first line at most, for which this test allows. */
    private static final Duration DELAY = Duration.ofMillis(500);

    private static final Duration STANDSTILL = Site.LEASE.multipliedBy(2);

    @Test
    @Tag("thorough")
    void never_more_bodies_than_the_limit_are_at_work_whichever_process_is_killed() throws Exception {
        torture(3, Integer.getInteger("limiters.runs", 150), Integer.getInteger("limiters.kills", 3));
    }

    @Test
    @Tag("thorough")
    void never_more_bodies_than_the_limit_are_at_work_in_eight_processes() throws Exception {
        torture(8, Integer.getInteger("limiters.runs", 1_000), Integer.getInteger("limiters.kills", 20));
    }

    @Test
    @Tag("thorough")
    void never_more_bodies_begin_in_a_period_than_the_rate_allows_whichever_process_is_killed() throws Exception {
        int runs = Integer.getInteger("limiters.runs", 300);
        try (SharedPostgres.Fresh database = SharedPostgres.database("limiter_rates");
                HikariDataSource pool = SmallPool.of(database.jdbcUrl(), database.user(), database.password());
                PostgresStore store = PostgresStore.on(pool).open();
                Perdure client = Perdure.on(store).limiters(LimiterWorker.RATE).client()) {
            OutsideLedger ledger = new OutsideLedger(pool);
            ledger.create();
            client.startAll(
                    IntStream.range(0, runs).boxed().toList(),
                    number -> Invocation.of(LimiterWorker.rated(ledger), "run-" + number),
                    number -> StartOptions.id("run-" + number));
            killOneAfterAnother(database, ledger, client, 3, runs, Integer.getInteger("limiters.kills", 5));
            List<Line> lines = ledger.lines();
            System.out.printf(
                    "limiters: at most %d bodies began within %s, and the rate is %d in %s%n",
                    mostWithin(lines, LimiterWorker.PERIOD.minus(DELAY)),
                    LimiterWorker.PERIOD.minus(DELAY),
                    LimiterWorker.IN_A_PERIOD,
                    LimiterWorker.PERIOD);
            assertThat(ended(lines)).isEqualTo((long) runs * LimiterWorker.STEPS);
            assertThat(mostWithin(lines, LimiterWorker.PERIOD.minus(DELAY)))
                    .isBetween(LimiterWorker.IN_A_PERIOD / 2, LimiterWorker.IN_A_PERIOD);
        }
    }

    /** The most bodies that began within a time of this length. */
    private static int mostWithin(List<Line> lines, Duration length) {
        List<Instant> begun = lines.stream()
                .filter(line -> line.step().equals("begin"))
                .map(Line::at)
                .sorted()
                .toList();
        int most = 0;
        int first = 0;
        for (int last = 0; last < begun.size(); last++) {
            while (!begun.get(first).plus(length).isAfter(begun.get(last))) {
                first++;
            }
            most = Math.max(most, last - first + 1);
        }
        return most;
    }

    private static void torture(int processes, int runs, int kills) throws Exception {
        try (SharedPostgres.Fresh database = SharedPostgres.database("limiters");
                HikariDataSource pool = SmallPool.of(database.jdbcUrl(), database.user(), database.password());
                PostgresStore store = PostgresStore.on(pool).open();
                Perdure client =
                        Perdure.on(store).limiters(LimiterWorker.LIMITER).client()) {
            OutsideLedger ledger = new OutsideLedger(pool);
            ledger.create();
            client.startAll(
                    IntStream.range(0, runs).boxed().toList(),
                    number -> Invocation.of(LimiterWorker.definition(ledger), "run-" + number),
                    number -> StartOptions.id("run-" + number));
            Instant from = ledger.now();
            killOneAfterAnother(database, ledger, client, processes, runs, kills);
            List<Line> lines = ledger.lines();
            System.out.printf(
                    "limiters: %d steps in %d processes under %d kills in %d ms; at most %d at once; the longest standstill %d ms%n",
                    runs * LimiterWorker.STEPS,
                    processes,
                    kills,
                    Duration.between(from, ledger.now()).toMillis(),
                    mostAtOnce(lines),
                    longestStandstill(lines).toMillis());
            assertThat(ended(lines)).isEqualTo((long) runs * LimiterWorker.STEPS);
            assertThat(mostAtOnce(lines)).as("at work at once").isEqualTo(LimiterWorker.AT_ONCE);
            assertThat(longestStandstill(lines))
                    .as("without a line of any step")
                    .isLessThan(STANDSTILL);
            LimiterInfo limiter = client.limiters().get(LimiterWorker.LIMITER.name());
            assertThat(limiter.held()).isZero();
        }
    }

    private static void killOneAfterAnother(
            SharedPostgres.Fresh database, OutsideLedger ledger, Perdure client, int processes, int runs, int kills)
            throws Exception {
        List<WorkerProcess> workers = new ArrayList<>();
        try {
            for (int i = 0; i < processes; i++) {
                workers.add(WorkerProcess.start(LimiterWorker.class, database));
            }
            for (WorkerProcess worker : workers) {
                worker.ready();
            }
            Random chance = new Random(Long.getLong("crash.seed", 42));
            for (int kill = 0; kill < kills; kill++) {
                // By progress, not by time: so there is something left to be done at every kill, on any machine.
                long due = (long) runs * LimiterWorker.STEPS * kill / kills;
                Awaitility.await().atMost(PATIENCE).until(() -> ended(ledger.lines()) >= due);
                int victim = chance.nextInt(processes);
                workers.get(victim).kill();
                workers.set(
                        victim,
                        WorkerProcess.start(LimiterWorker.class, database).ready());
            }
            Awaitility.await().atMost(PATIENCE).until(() -> allCompleted(client, runs));
        } finally {
            workers.forEach(WorkerProcess::close);
        }
    }

    private static boolean allCompleted(Perdure client, int runs) {
        return client.runs(RunFilter.all().state(RunState.COMPLETED).limit(runs + 1))
                        .list()
                        .size()
                == runs;
    }

    /** The steps that have come to their end. */
    private static long ended(List<Line> lines) {
        return lines.stream()
                .filter(line -> line.step().equals("end"))
                .map(Line::run)
                .distinct()
                .count();
    }

    private static Duration longestStandstill(List<Line> lines) {
        List<Instant> times = lines.stream().map(Line::at).sorted().toList();
        return IntStream.range(1, times.size())
                .mapToObj(i -> Duration.between(times.get(i - 1), times.get(i)))
                .max(Comparator.naturalOrder())
                .orElseThrow();
    }

    /**
     * A body is at work from its first line to its last. The body of a process that was killed has no last line, and
     * ends when it begins.
     */
    private static int mostAtOnce(List<Line> lines) {
        Map<String, Instant> begun = new HashMap<>();
        Map<Instant, Integer> changes = new TreeMap<>();
        for (Line line : lines.stream().sorted(Comparator.comparing(Line::at)).toList()) {
            if (line.step().equals("begin")) {
                begun.put(line.run(), line.at());
            } else {
                Instant begin = begun.remove(line.run());
                if (begin != null) {
                    changes.merge(begin, 1, Integer::sum);
                    changes.merge(line.at(), -1, Integer::sum);
                }
            }
        }
        int now = 0;
        int most = 0;
        for (int change : changes.values()) {
            now += change;
            most = Math.max(most, now);
        }
        return most;
    }
}
