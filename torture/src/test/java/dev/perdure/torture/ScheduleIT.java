package dev.perdure.torture;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.TypeRef;
import dev.perdure.embedded.SharedPostgres;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.schedule.CatchUp;
import dev.perdure.schedule.Overlap;
import dev.perdure.schedule.Schedule;
import dev.perdure.schedule.Times;
import dev.perdure.torture.setup.OutsideLedger;
import dev.perdure.torture.setup.OutsideLedger.Line;
import dev.perdure.torture.setup.WorkerProcess;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Schedules that fire every second while the processes that fire them are killed: every fire time has exactly one line
 * in a ledger outside, and there is no line for any other time. How late they were is printed. The sizes of the long
 * form: {@code -Dschedules.count=1000 -Dschedules.seconds=60 -Dschedules.kills=10}.
 */
@Timeout(value = 30, unit = TimeUnit.MINUTES)
class ScheduleIT {
    private static final int PROCESSES = 3;
    private static final Duration PATIENCE = Duration.ofMinutes(20);
    private static final Duration SECOND = Duration.ofSeconds(1);

    @Test
    @Tag("thorough")
    void every_fire_time_has_one_run_whichever_process_is_killed() throws Exception {
        torture(20, 10, 2);
    }

    @Test
    @Tag("thorough")
    void every_fire_time_of_a_thousand_schedules_has_one_run() throws Exception {
        torture(
                Integer.getInteger("schedules.count", 1_000),
                Integer.getInteger("schedules.seconds", 60),
                Integer.getInteger("schedules.kills", 10));
    }

    private static void torture(int count, int seconds, int kills) throws Exception {
        try (SharedPostgres.Fresh database = SharedPostgres.database("schedules");
                HikariDataSource pool = SmallPool.of(database.jdbcUrl(), database.user(), database.password());
                PostgresStore store = PostgresStore.on(pool).open();
                Perdure client = Perdure.on(store).client()) {
            OutsideLedger ledger = new OutsideLedger(pool);
            ledger.create();
            List<WorkerProcess> workers = new ArrayList<>();
            try {
                for (int i = 0; i < PROCESSES; i++) {
                    workers.add(WorkerProcess.start(ScheduleWorker.class, database));
                }
                for (WorkerProcess worker : workers) {
                    worker.ready();
                }
                Instant from = ledger.now().truncatedTo(ChronoUnit.SECONDS).plusSeconds(5 + count / 50);
                Instant until = from.plusSeconds(seconds - 1L);
                client.schedules()
                        .putAll(IntStream.range(0, count)
                                .mapToObj(number -> schedule(number, from, until))
                                .toList());
                assertThat(ledger.now()).as("when all schedules are made").isBefore(from);
                Random chance = new Random(Long.getLong("crash.seed", 42));
                for (int kill = 0; kill < kills; kill++) {
                    Instant due = from.plusMillis((long) seconds * 1_000 * (kill + 1) / (kills + 1));
                    Awaitility.await()
                            .atMost(PATIENCE)
                            .until(() -> !ledger.now().isBefore(due));
                    int victim = chance.nextInt(PROCESSES);
                    workers.get(victim).kill();
                    workers.set(
                            victim,
                            WorkerProcess.start(ScheduleWorker.class, database).ready());
                }
                Awaitility.await().atMost(PATIENCE).until(() -> ledger.size() >= (long) count * seconds);
                check(ledger.lines(), count, seconds, from);
                System.out.printf(
                        "schedules: %d every second for %d s in %d processes under %d kills; late by %s%n",
                        count, seconds, PROCESSES, kills, lateness(ledger.lines()));
            } finally {
                workers.forEach(WorkerProcess::close);
            }
        }
    }

    private static void check(List<Line> lines, int count, int seconds, Instant from) {
        Set<String> expected = IntStream.range(0, count)
                .boxed()
                .flatMap(number -> IntStream.range(0, seconds)
                        .mapToObj(second -> "s%d@%s".formatted(number, from.plusSeconds(second))))
                .collect(Collectors.toSet());
        assertThat(lines).as("one line for each fire time").hasSize(count * seconds);
        assertThat(lines.stream().map(Line::run).collect(Collectors.toSet())).isEqualTo(expected);
    }

    private static String lateness(List<Line> lines) {
        Percentiles late = new Percentiles(
                lines.stream().map(line -> Long.valueOf(line.value())).toList());
        return Stream.of(50, 90, 99, 100)
                .map(percent -> "p%d %d ms".formatted(percent, late.of(percent)))
                .collect(Collectors.joining(", "));
    }

    private static Schedule schedule(int number, Instant from, Instant until) {
        return Schedule.of(
                        "s" + number, Times.every(SECOND), Invocation.of("fired", "s" + number, TypeRef.of(Void.class)))
                .from(from)
                .until(until)
                .overlap(Overlap.ALLOW)
                .catchUp(CatchUp.all(Duration.ofHours(1)));
    }
}
