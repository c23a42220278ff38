package dev.perdure.internal.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.internal.schedule.FireTimes.Basis;
import dev.perdure.internal.schedule.ScheduleSpec.Bounds;
import dev.perdure.internal.schedule.ScheduleSpec.Exclusion;
import dev.perdure.internal.schedule.ScheduleSpec.Options;
import dev.perdure.internal.schedule.ScheduleSpec.Policies;
import dev.perdure.internal.schedule.ScheduleSpec.Rule;
import dev.perdure.internal.schedule.ScheduleSpec.RuleKind;
import dev.perdure.internal.schedule.ScheduleSpec.Target;
import dev.perdure.schedule.CatchUp;
import dev.perdure.schedule.Overlap;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class FireTimesTest {
    private static final Instant NEW_YEAR = Instant.parse("2030-01-01T00:00:00Z");
    private static final String BERLIN = "Europe/Berlin";
    private static final Basis BASIS = new Basis(NEW_YEAR, null);

    private final FireTimes times = new FireTimes();

    private static ScheduleSpec spec(List<Rule> rules, LocalDate... excluded) {
        return new ScheduleSpec(
                new Target("report", false, ""),
                rules,
                Stream.of(excluded).map(day -> new Exclusion(BERLIN, day)).toList(),
                new Bounds(null, null, 0, Duration.ZERO),
                new Policies(Overlap.SKIP, CatchUp.Kind.LAST, null, 0, null),
                new Options("default", 5, null, null, null, null, 1, Map.of(), null, null));
    }

    private static Rule cron(String expression) {
        return new Rule(RuleKind.CRON, expression, BERLIN, null, null);
    }

    private static Rule every(Duration period) {
        return new Rule(RuleKind.EVERY, null, null, period, null);
    }

    private static Rule afterEnd(Duration delay) {
        return new Rule(RuleKind.AFTER_END, null, null, delay, null);
    }

    private static LocalDate[] days(int days) {
        return LocalDate.of(2030, 1, 2)
                .datesUntil(LocalDate.of(2030, 1, 2).plusDays(days))
                .toArray(LocalDate[]::new);
    }

    @Test
    void excluded_days_are_jumped_over_however_many_times_they_have() {
        Instant after = Instant.parse("2030-01-01T22:59:59.950Z");
        assertThat(times.next(spec(List.of(every(Duration.ofMillis(100))), days(1)), after, BASIS))
                .hasValue(Instant.parse("2030-01-02T23:00:00Z"));
        assertThat(times.next(spec(List.of(cron("* * * * *")), days(40)), after, BASIS))
                .hasValue(Instant.parse("2030-02-10T23:00:00Z"));
        assertThat(times.next(
                        spec(List.of(cron("*/5 * * * * *"), every(Duration.ofHours(1))), days(900)), after, BASIS))
                .hasValue(Instant.parse("2032-06-19T22:00:00Z"));
    }

    @Test
    void a_delay_after_an_end_keeps_its_steps_over_excluded_days() {
        Instant end = Instant.parse("2030-01-01T22:30:00.500Z");
        ScheduleSpec spec = spec(List.of(afterEnd(Duration.ofMillis(250))), days(1));
        assertThat(times.next(spec, end, new Basis(NEW_YEAR, end))).hasValue(end.plusMillis(250));
        ScheduleSpec hourly = spec(List.of(afterEnd(Duration.ofHours(1))), days(1));
        assertThat(times.next(hourly, end, new Basis(NEW_YEAR, end))).hasValue(end.plus(Duration.ofHours(25)));
    }

    @Test
    void the_last_of_very_many_times_is_found_at_once() {
        Instant horizon = Instant.parse("2030-12-31T12:00:00Z");
        LocalDate[] december =
                LocalDate.of(2030, 12, 2).datesUntil(LocalDate.of(2031, 1, 2)).toArray(LocalDate[]::new);
        assertThat(times.last(spec(List.of(every(Duration.ofMillis(100))), december), NEW_YEAR, horizon, BASIS))
                .hasValue(Instant.parse("2030-12-01T22:59:59.900Z"));
        Basis ended = new Basis(NEW_YEAR, NEW_YEAR);
        assertThat(times.last(spec(List.of(afterEnd(Duration.ofMillis(100)))), NEW_YEAR, horizon, ended))
                .as("the next one would come after the end of the run of this one")
                .hasValue(NEW_YEAR.plusMillis(100));
    }

    @Test
    void the_next_and_the_last_time_are_those_of_a_count_one_by_one() {
        for (int seed = 0; seed < 300; seed++) {
            Random random = new Random(seed);
            List<Rule> rules = new ArrayList<>();
            if (random.nextBoolean()) {
                rules.add(every(Duration.ofMinutes(1 + random.nextInt(3_000))));
            }
            if (rules.isEmpty() || random.nextBoolean()) {
                rules.add(cron("%d */%d * * *".formatted(random.nextInt(60), 1 + random.nextInt(23))));
            }
            LocalDate[] excluded = random.ints(random.nextInt(4), 0, 9)
                    .mapToObj(LocalDate.of(2030, 1, 1)::plusDays)
                    .toArray(LocalDate[]::new);
            Instant horizon = NEW_YEAR.plus(Duration.ofMinutes(random.nextInt(10 * 24 * 60)));
            List<Instant> counted = Stream.iterate(
                            times.next(spec(rules), NEW_YEAR, BASIS).orElseThrow(),
                            time -> !time.isAfter(horizon),
                            time -> times.next(spec(rules), time, BASIS).orElseThrow())
                    .filter(time -> Stream.of(excluded)
                            .noneMatch(day -> day.equals(LocalDate.ofInstant(time, ZoneId.of(BERLIN)))))
                    .toList();
            ScheduleSpec spec = spec(rules, excluded);
            List<Instant> found = Stream.iterate(
                            times.next(spec, NEW_YEAR, BASIS),
                            time -> !time.orElseThrow().isAfter(horizon),
                            time -> times.next(spec, time.orElseThrow(), BASIS))
                    .map(time -> time.orElseThrow())
                    .toList();
            assertThat(found).as("seed " + seed).isEqualTo(counted);
            assertThat(times.last(spec, NEW_YEAR, horizon, BASIS).stream().toList())
                    .as("seed " + seed)
                    .isEqualTo(counted.isEmpty() ? List.of() : List.of(counted.getLast()));
        }
    }
}
