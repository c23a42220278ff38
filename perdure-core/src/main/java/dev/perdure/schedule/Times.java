package dev.perdure.schedule;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.internal.cron.CronTimes;
import dev.perdure.internal.text.Instants;
import dev.perdure.internal.text.Texts;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * When a schedule fires. Immutable. Several can be put together:
 *
 * <pre>{@code
 * Times.cron("0 9 * * MON-FRI", berlin).and(Times.cron("0 11 * * SAT", berlin)).except(berlin, LocalDate.of(2030, 12, 25))
 * }</pre>
 *
 * <p>A fire time is an instant with the precision of a millisecond. If two rules give the same instant, the schedule
 * fires once.
 */
public final class Times {
    private static final Duration SHORTEST = Duration.ofMillis(100);
    static final int MOST_DAYS = 36_500;
    static final Duration LONGEST = Duration.ofDays(MOST_DAYS);

    private final List<Rule> rules;
    private final List<Exclusion> exclusions;

    private Times(List<Rule> rules, List<Exclusion> exclusions) {
        this.rules = List.copyOf(rules);
        this.exclusions = List.copyOf(exclusions);
    }

    /** One rule by which fire times come. */
    public sealed interface Rule {}

    /**
     * A cron expression.
     *
     * @param expression the expression
     * @param zone its time zone
     */
    public record Cron(String expression, ZoneId zone) implements Rule {}

    /**
     * A fixed rate.
     *
     * @param period the time from one to the next
     */
    public record Every(Duration period) implements Rule {}

    /**
     * A fixed delay.
     *
     * @param delay the time from the end of a run to the next fire time
     */
    public record AfterEnd(Duration delay) implements Rule {}

    /**
     * Given instants.
     *
     * @param instants when
     */
    public record At(List<Instant> instants) implements Rule {
        /** Copies the list. */
        public At {
            instants = Texts.requireElements("list of instants", "instant", instants);
        }
    }

    /**
     * A day without fire times.
     *
     * @param zone the zone of the day
     * @param day the day
     */
    public record Exclusion(ZoneId zone, LocalDate day) {}

    /**
     * The times of a cron expression: five fields (minute, hour, day of month, month, day of week), six with seconds
     * first, or a name such as {@code @daily}. If both days are given, one of them is enough, as in Unix. The zone
     * decides about daylight saving: an expression with fixed hours fires once a day, also when the clock skips the
     * time or shows it twice; one that repeats by the hour follows the clock ({@code docs/guides/schedules.md}).
     *
     * @throws InvalidRequestException if the expression cannot be read or never comes true
     */
    public static Times cron(String expression, ZoneId zone) {
        Texts.requireGiven("cron expression", expression);
        Texts.requireGiven("time zone", zone);
        CronTimes.of(expression, zone);
        return of(new Cron(expression, zone));
    }

    /**
     * A fixed rate: at {@link Schedule#from} or, without that, one period after the schedule was made; then every
     * period.
     */
    public static Times every(Duration period) {
        return of(new Every(requireStorable("period", period)));
    }

    /**
     * A fixed delay after the end of the last run. The first one is fired at {@link Schedule#from} or, without that,
     * one delay after the schedule was made.
     */
    public static Times afterEnd(Duration delay) {
        return of(new AfterEnd(requireStorable("delay", delay)));
    }

    /** Given instants. */
    public static Times at(Instant... instants) {
        Texts.requireGiven("list of instants", instants);
        if (instants.length == 0 || Arrays.asList(instants).contains(null)) {
            throw new InvalidRequestException("The list of instants is empty or has a null. Give one instant or more.");
        }
        for (Instant instant : instants) {
            Instants.require("fire time", instant);
        }
        return of(new At(Arrays.stream(instants).sorted().toList()));
    }

    private static Times of(Rule rule) {
        return new Times(List.of(rule), List.of());
    }

    private static Duration requireStorable(String what, Duration duration) {
        Texts.requireGiven(what, duration);
        if (duration.compareTo(SHORTEST) < 0 || duration.compareTo(LONGEST) > 0) {
            throw new InvalidRequestException("The %s of a schedule is %s; it is at least %s and at most %s days."
                    .formatted(what, duration, SHORTEST, MOST_DAYS));
        }
        return duration;
    }

    /** These times and those. */
    public Times and(Times others) {
        Texts.requireGiven("other times", others);
        return new Times(join(rules, others.rules), join(exclusions, others.exclusions));
    }

    /** Without the times of these days, such as holidays. */
    public Times except(ZoneId zone, LocalDate... days) {
        Texts.requireGiven("list of days", days);
        Texts.requireGiven("time zone", zone);
        List<Exclusion> more = new ArrayList<>(exclusions);
        for (LocalDate day : days) {
            Texts.requireGiven("day", day);
            more.add(new Exclusion(zone, day));
        }
        return new Times(rules, more);
    }

    private static <T> List<T> join(List<T> some, List<T> others) {
        return Stream.concat(some.stream(), others.stream()).toList();
    }

    /** The rules. */
    public List<Rule> rules() {
        return rules;
    }

    /** The days without fire times. */
    public List<Exclusion> exclusions() {
        return exclusions;
    }
}
