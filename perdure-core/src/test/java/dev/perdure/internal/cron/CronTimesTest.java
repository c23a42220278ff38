package dev.perdure.internal.cron;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.error.InvalidRequestException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CronTimesTest {
    private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");
    private static final ZoneId UTC = ZoneId.of("UTC");

    /** The next times, as local time with offset. */
    private static List<String> times(String expression, ZoneId zone, String after, int count) {
        CronTimes cron = CronTimes.of(expression, zone);
        List<String> times = new ArrayList<>();
        Instant last = ZonedDateTime.parse(after).toInstant();
        for (int i = 0; i < count; i++) {
            Optional<Instant> next = cron.next(last);
            if (next.isEmpty()) {
                break;
            }
            assertThat(next.get()).isAfter(last);
            last = next.get();
            times.add(last.atZone(zone).toOffsetDateTime().toString());
        }
        return times;
    }

    @Test
    void five_fields_begin_with_minutes_and_six_with_seconds() {
        assertThat(times("30 2 * * *", UTC, "2026-01-01T00:00:00Z", 2))
                .containsExactly("2026-01-01T02:30Z", "2026-01-02T02:30Z");
        assertThat(times("*/20 30 2 * * *", UTC, "2026-01-01T02:30:00Z", 3))
                .containsExactly("2026-01-01T02:30:20Z", "2026-01-01T02:30:40Z", "2026-01-02T02:30Z");
    }

    @Test
    void a_time_between_two_seconds_counts_as_passed() {
        assertThat(times("* * * * * *", UTC, "2026-01-01T00:00:00.999Z", 1)).containsExactly("2026-01-01T00:00:01Z");
        assertThat(times("0 0 * * *", UTC, "2025-12-31T23:59:59.999999999Z", 1)).containsExactly("2026-01-01T00:00Z");
        assertThat(times("0 0 * * *", UTC, "2026-01-01T00:00:00Z", 1)).containsExactly("2026-01-02T00:00Z");
    }

    @Test
    void names_stand_for_expressions() {
        assertThat(times("@yearly", UTC, "2026-05-05T00:00:00Z", 1)).containsExactly("2027-01-01T00:00Z");
        assertThat(times("@monthly", UTC, "2026-05-05T00:00:00Z", 1)).containsExactly("2026-06-01T00:00Z");
        assertThat(times("@weekly", UTC, "2026-05-05T00:00:00Z", 1)).containsExactly("2026-05-10T00:00Z");
        assertThat(times("@daily", UTC, "2026-05-05T00:00:00Z", 1)).containsExactly("2026-05-06T00:00Z");
        assertThat(times("@hourly", UTC, "2026-05-05T00:00:00Z", 1)).containsExactly("2026-05-05T01:00Z");
    }

    @Test
    void days_of_the_week_are_numbers_or_names_and_sunday_is_0_or_7() {
        for (String sunday : List.of("0", "7", "SUN")) {
            assertThat(times("0 12 * * " + sunday, UTC, "2026-05-05T00:00:00Z", 2))
                    .containsExactly("2026-05-10T12:00Z", "2026-05-17T12:00Z");
        }
        assertThat(times("0 9 * * MON-FRI", UTC, "2026-05-08T10:00:00Z", 1)).containsExactly("2026-05-11T09:00Z");
    }

    @Test
    void of_two_days_one_is_enough() {
        assertThat(times("0 0 13 * FRI", UTC, "2026-05-05T00:00:00Z", 3))
                .containsExactly("2026-05-08T00:00Z", "2026-05-13T00:00Z", "2026-05-15T00:00Z");
    }

    @Test
    void the_last_day_of_a_month_and_the_first_monday_are_known() {
        assertThat(times("0 0 L * ?", UTC, "2026-02-05T00:00:00Z", 2))
                .containsExactly("2026-02-28T00:00Z", "2026-03-31T00:00Z");
        assertThat(times("0 0 ? * 1#1", UTC, "2026-02-05T00:00:00Z", 1)).containsExactly("2026-03-02T00:00Z");
    }

    @Test
    void a_time_that_the_clock_skips_happens_when_the_clock_changes() {
        assertThat(times("30 2 * * *", BERLIN, "2026-03-28T00:00:00Z", 3))
                .containsExactly("2026-03-28T02:30+01:00", "2026-03-29T03:00+02:00", "2026-03-30T02:30+02:00");
        assertThat(times("0 2 * * *", BERLIN, "2026-03-28T12:00:00Z", 2))
                .containsExactly("2026-03-29T03:00+02:00", "2026-03-30T02:00+02:00");
    }

    @Test
    void several_times_that_the_clock_skips_are_one() {
        assertThat(times("10,20 2,3 * * *", BERLIN, "2026-03-29T00:30:00Z", 4))
                .containsExactly(
                        "2026-03-29T03:00+02:00",
                        "2026-03-29T03:10+02:00",
                        "2026-03-29T03:20+02:00",
                        "2026-03-30T02:10+02:00");
    }

    @Test
    void a_time_that_the_clock_shows_twice_happens_the_first_time() {
        assertThat(times("30 2 * * *", BERLIN, "2026-10-24T12:00:00Z", 2))
                .containsExactly("2026-10-25T02:30+02:00", "2026-10-26T02:30+01:00");
        assertThat(times("30 2 * * *", BERLIN, "2026-10-25T02:10:00+01:00[Europe/Berlin]", 1))
                .as("asked while the clock shows it the second time")
                .containsExactly("2026-10-26T02:30+01:00");
        assertThat(times("0 3 * * *", BERLIN, "2026-10-25T00:30:00Z", 1)).containsExactly("2026-10-25T03:00+01:00");
    }

    @Test
    void what_repeats_by_the_hour_follows_the_clock() {
        assertThat(times("*/30 * * * *", BERLIN, "2026-03-29T00:10:00Z", 4))
                .containsExactly(
                        "2026-03-29T01:30+01:00",
                        "2026-03-29T03:00+02:00",
                        "2026-03-29T03:30+02:00",
                        "2026-03-29T04:00+02:00");
        assertThat(times("*/30 * * * *", BERLIN, "2026-10-24T23:40:00Z", 6))
                .containsExactly(
                        "2026-10-25T02:00+02:00",
                        "2026-10-25T02:30+02:00",
                        "2026-10-25T02:00+01:00",
                        "2026-10-25T02:30+01:00",
                        "2026-10-25T03:00+01:00",
                        "2026-10-25T03:30+01:00");
    }

    @Test
    void a_zone_that_skips_a_whole_day_skips_no_daily_job() {
        ZoneId samoa = ZoneId.of("Pacific/Apia");
        assertThat(times("0 12 * * *", samoa, "2011-12-29T12:00:00-10:00[Pacific/Apia]", 2))
                .containsExactly("2011-12-31T00:00+14:00", "2011-12-31T12:00+14:00");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "* * * *", "* * * * * * *", "61 * * * *", "0 0 30 2 *", "nonsense", "@never"})
    void an_expression_that_cannot_be_used_is_refused_with_a_remedy(String expression) {
        assertThatThrownBy(() -> CronTimes.of(expression, UTC))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageStartingWith("The cron expression '%s' cannot be used: ".formatted(expression))
                .hasMessageEndingWith("Write five fields (minute, hour, day of month, month, day of week), six with"
                        + " seconds first, or a name such as @daily.");
    }

    /** The nearest day from Monday to Friday in the same month, counted out day by day. */
    private static LocalDate weekday(YearMonth month, int day) {
        return IntStream.rangeClosed(1, month.lengthOfMonth())
                .mapToObj(month::atDay)
                .filter(date -> date.getDayOfWeek().getValue() <= 5)
                .min(Comparator.comparingInt((LocalDate date) -> Math.abs(date.getDayOfMonth() - day)))
                .orElseThrow();
    }

    /** All of 1W to 31W and LW, in all months from 2000 to 2059. */
    private static void requireNearestWeekdays(Function<String, UnaryOperator<LocalDateTime>> times) {
        YearMonth first = YearMonth.of(2000, 1);
        for (int day = 1; day <= 32; day++) {
            String field = day == 32 ? "LW" : day + "W";
            UnaryOperator<LocalDateTime> next = times.apply(field);
            List<LocalDate> expected = new ArrayList<>();
            List<LocalDate> found = new ArrayList<>();
            LocalDateTime last = LocalDateTime.of(1999, 12, 31, 23, 0);
            for (int months = 0; months < 720; months++) {
                YearMonth month = first.plusMonths(months);
                int wanted = day == 32 ? month.lengthOfMonth() : day;
                if (month.isValidDay(wanted)) {
                    expected.add(weekday(month, wanted));
                    last = next.apply(last);
                    found.add(last.toLocalDate());
                }
            }
            assertThat(found).as(field).isEqualTo(expected);
        }
    }

    private static LocalDateTime noon(LocalDateTime after) {
        LocalDateTime noon = after.toLocalDate().atTime(12, 0);
        return noon.isAfter(after) ? noon : noon.plusDays(1);
    }

    @Test
    void the_weekday_nearest_to_a_day_is_right_in_all_months_of_sixty_years() {
        requireNearestWeekdays(field -> new NearestWeekdays(CronTimesTest::noon, List.of(field))::next);
    }

    @Test
    @Tag("thorough")
    void whole_expressions_with_a_nearest_weekday_are_right_in_all_months_of_sixty_years() {
        requireNearestWeekdays(field -> {
            CronTimes cron = CronTimes.of("0 12 %s * *".formatted(field), UTC);
            return after -> LocalDateTime.ofInstant(
                    cron.next(after.toInstant(ZoneOffset.UTC)).orElseThrow(), UTC);
        });
    }

    @Test
    void a_weekday_in_a_list_and_beside_a_day_of_the_week_adds_days() {
        assertThat(times("0 9 1,15W,LW * *", UTC, "2030-06-01T00:00:00Z", 5))
                .containsExactly(
                        "2030-06-01T09:00Z",
                        "2030-06-14T09:00Z",
                        "2030-06-28T09:00Z",
                        "2030-07-01T09:00Z",
                        "2030-07-15T09:00Z");
        assertThat(times("0 9 15W * MON", UTC, "2030-06-05T00:00:00Z", 3))
                .containsExactly("2030-06-10T09:00Z", "2030-06-14T09:00Z", "2030-06-17T09:00Z");
        assertThat(times("0 9 31W 4,5 *", UTC, "2030-01-01T00:00:00Z", 2))
                .as("April has no 31st")
                .containsExactly("2030-05-31T09:00Z", "2031-05-30T09:00Z");
    }
}
