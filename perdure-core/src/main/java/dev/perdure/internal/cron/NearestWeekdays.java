package dev.perdure.internal.cron;

import java.time.DayOfWeek;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.YearMonth;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The days from Monday to Friday that are nearest to given days of a month, and in the same month: {@code 15W}, or
 * {@code LW} for the last of the month. A month that lacks the given day has none. The library gives a Sunday for some
 * of them, so it is asked for the times of every day.
 *
 * @param everyDay the times of the expression on every day of its months
 * @param items such as {@code 15W}
 */
record NearestWeekdays(CronTimes.LocalTimes everyDay, List<String> items) implements CronTimes.LocalTimes {
    private static final Pattern ITEM = Pattern.compile("(?:[0-9]{1,2}|L)W");

    /** More months than lie between two that have a 29th, one a year. */
    private static final int MOST_STEPS = 100;

    /** Whether a part of the field for the days of the month is one of these. */
    static boolean isItem(String part) {
        return ITEM.matcher(part).matches();
    }

    @Override
    public @Nullable LocalDateTime next(LocalDateTime after) {
        LocalDateTime from = after;
        for (int steps = 0; steps < MOST_STEPS; steps++) {
            LocalDateTime time = everyDay.next(from);
            if (time == null) {
                return null;
            }
            YearMonth month = YearMonth.from(time);
            LocalDate day = items.stream()
                    .flatMap(item -> nearest(month, item))
                    .filter(each -> !each.isBefore(time.toLocalDate()))
                    .min(Comparator.naturalOrder())
                    .orElse(month.plusMonths(1).atDay(1));
            if (day.equals(time.toLocalDate())) {
                return time;
            }
            from = day.atStartOfDay().minusSeconds(1);
        }
        return null;
    }

    private static Stream<LocalDate> nearest(YearMonth month, String item) {
        String number = item.substring(0, item.length() - 1);
        int day = number.equals("L") ? month.lengthOfMonth() : Integer.parseInt(number);
        return month.isValidDay(day) ? Stream.of(nearest(month.atDay(day), month)) : Stream.empty();
    }

    private static LocalDate nearest(LocalDate day, YearMonth month) {
        if (day.getDayOfWeek() == DayOfWeek.SATURDAY) {
            return day.getDayOfMonth() == 1 ? day.plusDays(2) : day.minusDays(1);
        }
        if (day.getDayOfWeek() == DayOfWeek.SUNDAY) {
            return day.equals(month.atEndOfMonth()) ? day.minusDays(2) : day.plusDays(1);
        }
        return day;
    }
}
