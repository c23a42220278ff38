package dev.perdure.benchmarks.perdure;

import com.zaxxer.hikari.HikariDataSource;
import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.benchmarks.cost.Metered;
import dev.perdure.benchmarks.measure.Rounds;
import dev.perdure.benchmarks.measure.Task;
import dev.perdure.benchmarks.report.Unit;
import dev.perdure.postgres.PostgresStore;
import dev.perdure.schedule.Schedule;
import dev.perdure.schedule.Times;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/**
 * Schedules in one worker: how fast those fire that are due at the same instant, how late those fire that are spread,
 * and what a worker asks of the database while many wait. All times are those of the database.
 */
public final class PerdureSchedules {
    private static final Definition<Integer, Integer> JOB =
            Definition.of("scheduled", Integer.class, Integer.class, (ctx, number) -> number);
    private static final Duration YEAR = Duration.ofDays(365);
    private static final int CHUNK = 1_000;

    /** Time until the first fire time, beside the time to make the schedules: one that is made later does not fire. */
    private static final Duration LEAD = Duration.ofSeconds(5);

    private final Task task;
    private final Perdure perdure;

    /** How long it takes to make one and let it sleep, with room to spare. */
    private Duration making = Duration.ZERO;

    private PerdureSchedules(Task task, Perdure perdure) {
        this.task = task;
        this.perdure = perdure;
    }

    /** Measures all of it. */
    public static void measure(Task task) throws Exception {
        try (HikariDataSource pool = task.database().pool();
                PostgresStore store = PostgresStore.on(pool).open();
                Perdure perdure = Perdure.on(store).register(JOB).start()) {
            PerdureSchedules schedules = new PerdureSchedules(task, perdure);
            task.results().progress("schedules.idle");
            schedules.atRest("schedules.idle.none.round_trips");
            schedules.warmUp();
            schedules.fireRate();
            schedules.spread();
            schedules.idle();
        }
    }

    private void warmUp() throws Exception {
        int count = task.scale().choose(5_000, 2_000, 5);
        for (int round = 0; round < 2; round++) {
            long start = System.nanoTime();
            String name = "warm" + round + "-";
            Instant never = now().plus(YEAR);
            make(count, number -> Schedule.of(name + number, Times.at(never), Invocation.of(JOB, number)));
            awaitTimers(name, count);
            making = Duration.ofNanos(2 * (System.nanoTime() - start) / count);
        }
        together("warm-", count);
    }

    private Instant due(int count) throws SQLException {
        return now().plus(LEAD).plus(making.multipliedBy(count)).truncatedTo(ChronoUnit.MILLIS);
    }

    private void fireRate() throws Exception {
        int count = task.scale().choose(10_000, 10_000, 20);
        task.results().progress("schedules.fire_rate");
        AtomicInteger round = new AtomicInteger();
        Rounds<Metered<Double>> rounds =
                Rounds.of(task, () -> together("together" + round.incrementAndGet() + "-", count));
        rounds.figure("schedules.fire_rate", Unit.PER_SECOND, Metered::result);
        rounds.cost("schedules.fire", fired -> fired.cost().per(count));
    }

    /**
     * Fires many at the same instant, and gives how many a second were started until the last was. The cost is that of
     * firing them and of their runs, until these have ended.
     */
    private Metered<Double> together(String name, int count) throws Exception {
        Instant due = due(count);
        make(count, number -> Schedule.of(name + number, Times.at(due), Invocation.of(JOB, number)));
        requireBefore(due);
        return task.meter().measure(() -> {
            await(name, count);
            return count
                    / seconds(
                            "extract(epoch FROM max(created_at) - timestamptz '%s')".formatted(due),
                            "id LIKE '" + name + "%'");
        });
    }

    private void awaitTimers(String name, int count) throws Exception {
        while (number("SELECT count(*) FROM perdure.run WHERE id LIKE 'schedule:%s%%' AND wake_at IS NOT NULL"
                        .formatted(name))
                < count) {
            Thread.sleep(100);
        }
    }

    /** Fires some every few milliseconds. */
    private void spread() throws Exception {
        int count = task.scale().choose(1_000, 1_000, 10);
        Duration time = task.scale().choose(Duration.ofMinutes(1), Duration.ofSeconds(30), Duration.ofSeconds(1));
        task.results().progress("schedules.lateness");
        Instant first = due(count);
        make(
                count,
                number -> Schedule.of(
                        "spread" + number,
                        Times.at(first.plus(time.multipliedBy(number).dividedBy(count))),
                        Invocation.of(JOB, number)));
        requireBefore(first);
        await("spread", count);
        String late = "extract(epoch FROM created_at - split_part(id, '@', 2)::timestamptz)";
        String which = "id LIKE 'spread%'";
        task.results()
                .figure(
                        "schedules.lateness.p50",
                        Unit.MILLISECONDS,
                        1_000 * seconds("percentile_cont(0.5) WITHIN GROUP (ORDER BY %s)".formatted(late), which));
        task.results()
                .figure(
                        "schedules.lateness.p99",
                        Unit.MILLISECONDS,
                        1_000 * seconds("percentile_cont(0.99) WITHIN GROUP (ORDER BY %s)".formatted(late), which));
    }

    /** What a worker asks for while many schedules wait for next year. */
    private void idle() throws Exception {
        int count = task.scale().choose(100_000, 20_000, 20);
        task.results().progress("schedules.idle");
        Instant next = now().plus(YEAR);
        make(count, number -> Schedule.of("idle" + number, Times.at(next), Invocation.of(JOB, number)));
        awaitTimers("idle", count);
        atRest("schedules.idle.round_trips");
    }

    /** Polls and leases, and the checks of the pool before each of them. */
    private void atRest(String figure) throws Exception {
        Duration time = task.scale().choose(Duration.ofSeconds(20), Duration.ofSeconds(10), Duration.ofMillis(50));
        Thread.sleep(time.dividedBy(2));
        Metered<Boolean> idle = task.meter().measure(() -> {
            Thread.sleep(time);
            return true;
        });
        task.results().figure(figure, Unit.PER_SECOND, idle.cost().roundTrips() * 1e9 / time.toNanos());
    }

    private void make(int count, IntFunction<Schedule> schedule) {
        for (int from = 0; from < count; from += CHUNK) {
            List<Schedule> some = IntStream.range(from, Math.min(from + CHUNK, count))
                    .mapToObj(schedule)
                    .toList();
            perdure.schedules().putAll(some);
        }
    }

    private void requireBefore(Instant due) throws SQLException {
        if (now().isAfter(due)) {
            throw new IllegalStateException(
                    "The schedules were not made before they were due. Measure on a quiet machine.");
        }
    }

    private void await(String name, int count) throws Exception {
        while (number("SELECT count(*) FROM perdure.run WHERE definition = 'scheduled' AND state = 6 AND id LIKE '"
                        + name + "%'")
                < count) {
            Thread.sleep(50);
        }
    }

    private Instant now() throws SQLException {
        return Instant.ofEpochMilli(number("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint"));
    }

    private long number(String query) throws SQLException {
        return task.database().number(query);
    }

    private double seconds(String what, String which) throws SQLException {
        return Double.parseDouble(task.database()
                .text("SELECT (%s)::text FROM perdure.run WHERE definition = 'scheduled' AND %s"
                        .formatted(what, which)));
    }
}
