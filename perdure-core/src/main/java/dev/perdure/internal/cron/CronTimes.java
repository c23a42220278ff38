package dev.perdure.internal.cron;

import com.cronutils.model.Cron;
import com.cronutils.model.definition.CronDefinition;
import com.cronutils.model.definition.CronDefinitionBuilder;
import com.cronutils.model.field.CronFieldName;
import com.cronutils.model.field.expression.Always;
import com.cronutils.model.field.expression.Every;
import com.cronutils.model.field.expression.FieldExpression;
import com.cronutils.model.time.ExecutionTime;
import com.cronutils.parser.CronParser;
import dev.perdure.error.InvalidRequestException;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.StringTokenizer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The times of a cron expression in a time zone. Immutable.
 *
 * <p>How it works. The library answers which local time is next; it is asked in UTC, so that it never meets a change of
 * the clock. This class goes from one change of the zone's offset to the next. Between two changes a local time is one
 * instant. At a change it depends on the expression. One with fixed hours ({@code 30 2 * * *}) happens once a day: a
 * time that the clock skips happens when the clock changes, and a time that comes twice happens the first time. One
 * that repeats by the hour ({@code *}{@code /15 * * * *}) follows the clock: what is skipped does not happen, and what
 * comes twice happens twice.
 */
public final class CronTimes {
    /** More changes of the clock than any zone has between two times that an expression can name. */
    private static final int MOST_CHANGES = 200;

    private static final LocalDateTime ANY_TIME = LocalDateTime.of(2024, 1, 1, 0, 0);
    private static final int FIELDS = 5;
    /** Reading an expression takes time that grows with the square of its length. */
    private static final int MOST_CHARACTERS = 500;

    private static final Map<String, String> NAMED = Map.of(
            "@yearly", "0 0 1 1 *",
            "@annually", "0 0 1 1 *",
            "@monthly", "0 0 1 * *",
            "@weekly", "0 0 * * 0",
            "@daily", "0 0 * * *",
            "@midnight", "0 0 * * *",
            "@hourly", "0 * * * *");

    private static final int DAY_OF_MONTH = 3;
    private static final int DAY_OF_WEEK = 5;

    private final List<LocalTimes> parts;
    private final ZoneId zone;
    private final boolean fixed;

    /** Local times. */
    interface LocalTimes {
        /** The first time after this one, or null. */
        @Nullable
        LocalDateTime next(LocalDateTime after);
    }

    private CronTimes(List<LocalTimes> parts, ZoneId zone, boolean fixed) {
        this.parts = parts;
        this.zone = zone;
        this.fixed = fixed;
    }

    /**
     * Reads an expression.
     *
     * @throws InvalidRequestException if it is none, or never comes true
     */
    public static CronTimes of(String expression, ZoneId zone) {
        List<String> fields = split(expression);
        Cron cron = parsed(expression, fields);
        FieldExpression hour = Objects.requireNonNull(cron.retrieveFieldsAsMap().get(CronFieldName.HOUR))
                .getExpression();
        CronTimes read = new CronTimes(
                parts(expression, fields, cron), zone, !(hour instanceof Always || hour instanceof Every));
        if (read.nextLocal(ANY_TIME) == null) {
            throw unusable(expression, "It never comes true.");
        }
        return read;
    }

    /** What the library computes, and the weekdays nearest to a day, which it computes wrongly: any of them comes true. */
    private static List<LocalTimes> parts(String expression, List<String> fields, Cron cron) {
        List<String> days = List.of(fields.get(DAY_OF_MONTH).split(","));
        List<String> nearest = days.stream().filter(NearestWeekdays::isItem).toList();
        List<String> others =
                days.stream().filter(day -> !NearestWeekdays.isItem(day)).toList();
        if (nearest.isEmpty()) {
            return List.of(localTimes(cron));
        }
        List<LocalTimes> parts = new ArrayList<>();
        Cron everyDay = parsed(expression, withDays(fields, "*", "*"));
        parts.add(new NearestWeekdays(localTimes(everyDay), nearest));
        String weekday = fields.get(DAY_OF_WEEK);
        if (!others.isEmpty()) {
            parts.add(localTimes(parsed(expression, withDays(fields, String.join(",", others), weekday))));
        } else if (!weekday.equals("*")) {
            parts.add(localTimes(parsed(expression, withDays(fields, "*", weekday))));
        }
        return parts;
    }

    private static List<String> withDays(List<String> fields, String ofMonth, String ofWeek) {
        List<String> changed = new ArrayList<>(fields);
        changed.set(DAY_OF_MONTH, ofMonth);
        changed.set(DAY_OF_WEEK, ofWeek);
        return changed;
    }

    private static LocalTimes localTimes(Cron cron) {
        ExecutionTime times = ExecutionTime.forCron(cron);
        return after -> times.nextExecution(after.atZone(ZoneOffset.UTC))
                .map(ZonedDateTime::toLocalDateTime)
                .orElse(null);
    }

    /**
     * The fields of an expression, also of a name such as {@code @daily}. A definition with question marks would want both
     * days to fit, where Unix is content with one.
     */
    static String fields(String expression) {
        return NAMED.getOrDefault(expression.strip(), expression.strip()).replace('?', '*');
    }

    /** The six fields, in capitals: the library makes them by the JVM's default locale, and a Turkish FRİ is no day. */
    private static List<String> split(String expression) {
        if (expression.length() > MOST_CHARACTERS) {
            throw unusable(
                    expression.substring(0, MOST_CHARACTERS) + "…",
                    "It has more than %s characters.".formatted(MOST_CHARACTERS));
        }
        List<String> fields = Collections.list(new StringTokenizer(fields(expression))).stream()
                .map(field -> field.toString().toUpperCase(Locale.ROOT))
                .toList();
        if (fields.size() != FIELDS && fields.size() != FIELDS + 1) {
            throw unusable(expression, "It has %s fields.".formatted(fields.size()));
        }
        return fields.size() == FIELDS
                ? Stream.concat(Stream.of("0"), fields.stream()).toList()
                : fields;
    }

    private static Cron parsed(String expression, List<String> fields) {
        try {
            return new CronParser(definition()).parse(String.join(" ", fields));
        } catch (IllegalArgumentException wrong) {
            throw unusable(expression, String.valueOf(wrong.getMessage()));
        } catch (IndexOutOfBoundsException wrong) { // Of the library, for a field such as "5#" or "1-".
            throw unusable(expression, "A field ends too early.");
        }
    }

    private static InvalidRequestException unusable(String expression, String why) {
        return new InvalidRequestException(
                "The cron expression '%s' cannot be used: %s Write five fields (minute, hour, day of month, month, day of week), six with seconds first, or a name such as @daily."
                        .formatted(expression, why.endsWith(".") ? why : why + "."));
    }

    /** Unix fields, with seconds before them, and the letters that Quartz and Spring know. */
    private static CronDefinition definition() {
        return CronDefinitionBuilder.defineCron()
                .withSeconds()
                .withValidRange(0, 59)
                .and()
                .withMinutes()
                .withValidRange(0, 59)
                .and()
                .withHours()
                .withValidRange(0, 23)
                .and()
                .withDayOfMonth()
                .withValidRange(1, 31)
                .supportsL()
                .supportsW()
                .supportsLW()
                .and()
                .withMonth()
                .withValidRange(1, 12)
                .and()
                .withDayOfWeek()
                .withValidRange(0, 7)
                .withMondayDoWValue(1)
                .withIntMapping(7, 0)
                .supportsHash()
                .supportsL()
                .and()
                .instance();
    }

    /** The first time after this one, if there is any. */
    public Optional<Instant> next(Instant after) {
        try {
            return found(after);
        } catch (DateTimeException outOfBounds) { // The end of all times that Java knows.
            return Optional.empty();
        }
    }

    private Optional<Instant> found(Instant after) {
        ZoneRules rules = zone.getRules();
        ZoneOffset offset = rules.getOffset(after);
        LocalDateTime start = LocalDateTime.ofInstant(after, offset);
        ZoneOffsetTransition last = rules.previousTransition(after.plusNanos(1));
        if (last != null) {
            start = notTwice(last, start);
        }
        Instant from = after;
        for (int changes = 0; changes < MOST_CHANGES; changes++) {
            LocalDateTime local = nextLocal(start);
            if (local == null) {
                return Optional.empty();
            }
            ZoneOffsetTransition change = rules.nextTransition(from);
            Instant found = local.toInstant(offset);
            if (change == null || found.isBefore(change.getInstant())) {
                return Optional.of(found);
            }
            if (fixed && change.isGap() && local.isBefore(change.getDateTimeAfter())) {
                return Optional.of(change.getInstant());
            }
            offset = change.getOffsetAfter();
            start = notTwice(change, change.getDateTimeAfter().minusNanos(1));
            from = change.getInstant();
        }
        return Optional.empty();
    }

    /** For a time that happens once a day: the local time up to which it has happened before the clock went back. */
    private LocalDateTime notTwice(ZoneOffsetTransition change, LocalDateTime start) {
        LocalDateTime before = change.getDateTimeBefore().minusNanos(1);
        return fixed && change.isOverlap() && start.isBefore(before) ? before : start;
    }

    private @Nullable LocalDateTime nextLocal(LocalDateTime after) {
        LocalDateTime whole = after.truncatedTo(ChronoUnit.SECONDS);
        return parts.stream()
                .map(part -> part.next(whole))
                .filter(Objects::nonNull)
                .min(Comparator.naturalOrder())
                .orElse(null);
    }
}
