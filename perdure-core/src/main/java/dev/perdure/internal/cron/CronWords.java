package dev.perdure.internal.cron;

import java.time.DayOfWeek;
import java.time.Month;
import java.time.format.TextStyle;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Cron expressions in words: {@code 0 9 * * MON-FRI} is "every weekday at 09:00". Only what is short in words has some;
 * nobody reads a list of twelve minutes faster than {@code *}{@code /5}.
 */
public final class CronWords {
    private static final Pattern NUMBER = Pattern.compile("\\d{1,2}");
    private static final Pattern NUMBERS = Pattern.compile("\\d{1,2}(,\\d{1,2}){0,2}");
    private static final Pattern STEP = Pattern.compile("\\*/(\\d{1,2})");
    private static final Pattern RANGE = Pattern.compile("(\\w+)-(\\w+)");
    private static final List<Integer> WEEKDAYS = List.of(1, 2, 3, 4, 5);
    private static final int FIELDS = 5;
    private static final int MINUTES = 60;
    private static final int HOURS = 24;

    private CronWords() {}

    /** An expression in words; empty if it has no short ones. */
    public static Optional<String> of(String expression) {
        String[] fields = CronTimes.fields(expression).toUpperCase(Locale.ROOT).split("\\s+");
        if (fields.length != FIELDS) { // it has seconds
            return Optional.empty();
        }
        Optional<String> days = days(fields[2], fields[3], fields[4]);
        Optional<String> often = repeated(fields[0], fields[1]);
        if (often.isPresent()) {
            return days.filter("every day"::equals).flatMap(always -> often);
        }
        return days.flatMap(on -> times(fields[0], fields[1]).map(at -> on + " at " + at));
    }

    /** "every 5 minutes", "every hour at :05". */
    private static Optional<String> repeated(String minute, String hour) {
        if (hour.equals("*")) {
            if (minute.equals("*")) {
                return Optional.of("every minute");
            }
            if (NUMBER.matcher(minute).matches()) {
                return Optional.of("every hour at :" + two(minute));
            }
            return step(minute, MINUTES).map("every %s minutes"::formatted);
        }
        return NUMBER.matcher(minute).matches()
                ? step(hour, HOURS).map(hours -> "every %s hours at :%s".formatted(hours, two(minute)))
                : Optional.empty();
    }

    /** A step that is the same from one hour, or one day, to the next. */
    private static Optional<Integer> step(String field, int whole) {
        Matcher step = STEP.matcher(field);
        if (!step.matches()) {
            return Optional.empty();
        }
        int size = Integer.parseInt(step.group(1));
        return size > 1 && whole % size == 0 ? Optional.of(size) : Optional.empty();
    }

    /** "09:00 and 17:00". */
    private static Optional<String> times(String minute, String hour) {
        if (!NUMBER.matcher(minute).matches() || !NUMBERS.matcher(hour).matches()) {
            return Optional.empty();
        }
        return Optional.of(listed(Stream.of(hour.split(","))
                .map(each -> two(each) + ":" + two(minute))
                .sorted()
                .toList()));
    }

    private static Optional<String> days(String day, String month, String weekday) {
        boolean anyDay = day.equals("*");
        boolean anyWeekday = weekday.equals("*");
        if (!month.equals("*") && !NUMBER.matcher(month).matches()) {
            return Optional.empty();
        }
        if (anyDay && month.equals("*")) {
            return anyWeekday ? Optional.of("every day") : weekdays(weekday);
        }
        if (!anyWeekday) {
            return Optional.empty();
        }
        String of = month.equals("*")
                ? "every month"
                : Month.of(Integer.parseInt(month)).getDisplayName(TextStyle.FULL, Locale.ENGLISH);
        if (anyDay) {
            return Optional.of("every day in " + of);
        }
        if (day.equals("L")) {
            return Optional.of("on the last day of " + of);
        }
        return NUMBER.matcher(day).matches()
                ? Optional.of("on the %s of %s".formatted(ordinal(Integer.parseInt(day)), of))
                : Optional.empty();
    }

    /** "every weekday", "every Monday and Thursday". */
    private static Optional<String> weekdays(String field) {
        TreeSet<Integer> days = new TreeSet<>();
        for (String part : field.split(",")) {
            Matcher range = RANGE.matcher(part);
            Optional<Integer> first = weekday(range.matches() ? range.group(1) : part);
            Optional<Integer> last = range.matches() ? weekday(range.group(2)) : first;
            if (first.isEmpty() || last.isEmpty() || first.get() > last.get()) {
                return Optional.empty();
            }
            IntStream.rangeClosed(first.get(), last.get()).forEach(days::add);
        }
        List<Integer> all = new ArrayList<>(days);
        return Optional.of(
                all.equals(WEEKDAYS)
                        ? "every weekday"
                        : "every "
                                + listed(all.stream()
                                        .map(each -> DayOfWeek.of(each).getDisplayName(TextStyle.FULL, Locale.ENGLISH))
                                        .toList()));
    }

    /** From 1 for Monday to 7 for Sunday, which cron also calls 0. */
    private static Optional<Integer> weekday(String name) {
        if (NUMBER.matcher(name).matches()) {
            int number = Integer.parseInt(name);
            return Optional.of(number == 0 ? DayOfWeek.SUNDAY.getValue() : number);
        }
        return Stream.of(DayOfWeek.values())
                .filter(each -> each.name().substring(0, 3).equals(name))
                .map(DayOfWeek::getValue)
                .findFirst();
    }

    private static String two(String number) {
        return number.length() == 1 ? "0" + number : number;
    }

    private static String ordinal(int number) {
        String ending = number / 10 == 1
                ? "th"
                : switch (number % 10) {
                    case 1 -> "st";
                    case 2 -> "nd";
                    case 3 -> "rd";
                    default -> "th";
                };
        return number + ending;
    }

    private static String listed(List<String> texts) {
        return texts.size() == 1
                ? texts.getFirst()
                : String.join(", ", texts.subList(0, texts.size() - 1)) + " and " + texts.getLast();
    }
}
