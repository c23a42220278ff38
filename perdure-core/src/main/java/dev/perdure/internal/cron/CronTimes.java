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
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.StringTokenizer;
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

    private final ExecutionTime times;
    private final ZoneId zone;
    private final boolean fixed;

    private CronTimes(ExecutionTime times, ZoneId zone, boolean fixed) {
        this.times = times;
        this.zone = zone;
        this.fixed = fixed;
    }

    /**
     * Reads an expression.
     *
     * @throws InvalidRequestException if it is none, or never comes true
     */
    public static CronTimes of(String expression, ZoneId zone) {
        Cron cron = parsed(expression);
        FieldExpression hour = Objects.requireNonNull(cron.retrieveFieldsAsMap().get(CronFieldName.HOUR))
                .getExpression();
        CronTimes read =
                new CronTimes(ExecutionTime.forCron(cron), zone, !(hour instanceof Always || hour instanceof Every));
        if (expression.indexOf('W') >= 0 && !read.isInEveryMonth()) {
            throw unusable(expression, "Some months lack the day before its W; use a day up to 28, or LW.");
        }
        if (read.nextLocal(ANY_TIME) == null) {
            throw unusable(expression, "It never comes true.");
        }
        return read;
    }

    /** Whether the library finds the weekday next to a day in every month. It throws where a month lacks the day. */
    private boolean isInEveryMonth() {
        try {
            for (int month = 1; month <= 12; month++) {
                nextLocal(LocalDateTime.of(2026, month, 1, 0, 0).minusSeconds(1));
            }
            return true;
        } catch (DateTimeException lacking) {
            return false;
        }
    }

    /**
     * The fields of an expression, also of a name such as {@code @daily}. A definition with question marks would want both
     * days to fit, where Unix is content with one.
     */
    static String fields(String expression) {
        return NAMED.getOrDefault(expression.strip(), expression.strip()).replace('?', '*');
    }

    private static Cron parsed(String expression) {
        if (expression.length() > MOST_CHARACTERS) {
            throw unusable(
                    expression.substring(0, MOST_CHARACTERS) + "…",
                    "It has more than %d characters.".formatted(MOST_CHARACTERS));
        }
        String fields = fields(expression);
        int count = new StringTokenizer(fields).countTokens();
        if (count != FIELDS && count != FIELDS + 1) {
            throw unusable(expression, "It has %d fields.".formatted(count));
        }
        try {
            return new CronParser(definition()).parse(count == FIELDS ? "0 " + fields : fields);
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
        ZonedDateTime whole = after.truncatedTo(ChronoUnit.SECONDS).atZone(ZoneOffset.UTC);
        return times.nextExecution(whole).map(ZonedDateTime::toLocalDateTime).orElse(null);
    }
}
