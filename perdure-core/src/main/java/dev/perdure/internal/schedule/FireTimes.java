package dev.perdure.internal.schedule;

import dev.perdure.internal.cron.CronTimes;
import dev.perdure.internal.cron.CronWords;
import dev.perdure.internal.schedule.ScheduleSpec.Rule;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Which fire times a schedule has. Reads each cron expression once, because that takes longer than everything else
 * here.
 */
public final class FireTimes {
    private static final int MOST_EXPRESSIONS = 10_000;

    private final Map<String, CronTimes> expressions = new ConcurrentHashMap<>();

    /**
     * What the next times depend on besides the spec.
     *
     * @param since when the schedule was made
     * @param idleSince since when no run of it is at work, or null if one is: for times that follow an end
     */
    record Basis(Instant since, @Nullable Instant idleSince) {}

    /** The first time after this one, if there is any. Jumps over each excluded day once, however many times it has. */
    Optional<Instant> next(ScheduleSpec spec, Instant after, Basis basis) {
        Instant from = spec.bounds().from();
        Instant start = from != null && after.isBefore(from) ? from.minusNanos(1) : after;
        Instant until = spec.bounds().until();
        Instant jumped = start;
        while (true) {
            Instant excluded = jumped;
            Optional<Instant> next = spec.rules().stream()
                    .flatMap(rule -> next(rule, spec, start, excluded, basis).stream())
                    .min(Comparator.naturalOrder());
            if (next.isEmpty() || (until != null && next.get().isAfter(until))) {
                return Optional.empty();
            }
            Optional<Instant> end = endOfExclusion(spec, next.get());
            if (end.isEmpty()) {
                return next;
            }
            jumped = end.get().minusNanos(1);
        }
    }

    /** The first time after {@code after} that is also after {@code excluded}. */
    private Optional<Instant> next(Rule rule, ScheduleSpec spec, Instant after, Instant excluded, Basis basis) {
        return switch (rule.kind()) {
            case CRON -> cron(rule).next(excluded);
            case EVERY -> Optional.of(every(duration(rule), spec.bounds().from(), basis.since(), excluded));
            case AFTER_END ->
                afterEnd(duration(rule), spec.bounds().from(), after, basis)
                        .map(first -> step(first, duration(rule), excluded));
            case AT -> instants(rule).filter(time -> time.isAfter(excluded)).findFirst();
        };
    }

    private static Duration duration(Rule rule) {
        return Objects.requireNonNull(rule.duration());
    }

    private static Stream<Instant> instants(Rule rule) {
        return Objects.requireNonNullElse(rule.instants(), List.<Instant>of()).stream();
    }

    private CronTimes cron(Rule rule) {
        String expression = Objects.requireNonNull(rule.cron());
        String zone = Objects.requireNonNull(rule.zone());
        if (expressions.size() > MOST_EXPRESSIONS) {
            expressions.clear();
        }
        return expressions.computeIfAbsent(
                zone + " " + expression, unseen -> CronTimes.of(expression, ZoneId.of(zone)));
    }

    private static Instant every(Duration period, @Nullable Instant from, Instant since, Instant after) {
        Instant first = whole(from == null ? since.plus(period) : from);
        return step(first, period, after);
    }

    /** The first step after {@code after}, from {@code first} on. */
    private static Instant step(Instant first, Duration period, Instant after) {
        if (after.isBefore(first)) {
            return first;
        }
        long passed = Duration.between(first, after).dividedBy(period);
        return first.plus(period.multipliedBy(passed + 1));
    }

    private static Optional<Instant> afterEnd(Duration delay, @Nullable Instant from, Instant after, Basis basis) {
        if (basis.idleSince() == null) {
            return Optional.empty();
        }
        if (from != null && after.isBefore(from)) {
            return Optional.of(whole(from));
        }
        Instant end = basis.idleSince().isAfter(after) ? basis.idleSince() : after;
        return Optional.of(whole(end.plus(delay)));
    }

    /** Ids are easier to read with milliseconds. */
    private static Instant whole(Instant time) {
        Instant cut = time.truncatedTo(ChronoUnit.MILLIS);
        return cut.equals(time) ? cut : cut.plusMillis(1);
    }

    /** When the last of the excluded days ends in which this time is. */
    private static Optional<Instant> endOfExclusion(ScheduleSpec spec, Instant time) {
        return spec.exclusions().stream()
                .flatMap(exclusion -> {
                    ZoneId zone = ZoneId.of(exclusion.zone());
                    return time.atZone(zone).toLocalDate().equals(exclusion.day())
                            ? Stream.of(exclusion
                                    .day()
                                    .plusDays(1)
                                    .atStartOfDay(zone)
                                    .toInstant())
                            : Stream.empty();
                })
                .max(Comparator.naturalOrder());
    }

    /**
     * The last time after {@code after} and not after {@code horizon}, if there is any. Halves what is between them: a
     * schedule for every second that no worker fired for a year has many times. Of the times that follow an end there is
     * only the first: the next one follows the end of its run.
     */
    Optional<Instant> last(ScheduleSpec spec, Instant after, Instant horizon, Basis basis) {
        Optional<Instant> first = next(spec, after, basis).filter(time -> !time.isAfter(horizon));
        if (first.isEmpty()) {
            return first;
        }
        Basis fixed = new Basis(basis.since(), null);
        Instant last = first.get();
        Instant end = horizon; // no time is after it
        if (next(spec, last, fixed).filter(time -> !time.isAfter(horizon)).isEmpty()) {
            return first;
        }
        while (last.isBefore(end)) {
            Instant middle = last.plus(Duration.between(last, end).dividedBy(2));
            Optional<Instant> later = next(spec, middle, fixed).filter(time -> !time.isAfter(horizon));
            if (later.isPresent()) {
                last = later.get();
            } else {
                end = middle;
            }
        }
        return Optional.of(last);
    }

    /** The rules in words. */
    public static String words(ScheduleSpec spec) {
        List<String> words = spec.rules().stream().map(FireTimes::words).toList();
        String days = spec.exclusions().isEmpty()
                ? ""
                : ", except on %s days".formatted(spec.exclusions().size());
        return String.join(", ", words) + days;
    }

    private static String words(Rule rule) {
        return switch (rule.kind()) {
            case CRON -> words(Objects.requireNonNull(rule.cron()), String.valueOf(rule.zone()));
            case EVERY -> "every " + rule.duration();
            case AFTER_END -> "%s after the end of the last".formatted(rule.duration());
            case AT -> "at %s".formatted(instants(rule).map(Instant::toString).toList());
        };
    }

    private static String words(String cron, String zone) {
        return CronWords.of(cron)
                .map(words -> "%s in %s (cron %s)".formatted(words, zone, cron))
                .orElse("cron %s in %s".formatted(cron, zone));
    }

    /** By how much later it fires: a share of the jitter that its name decides. */
    static Duration jitter(String schedule, ScheduleSpec spec) {
        long most = spec.bounds().jitter().toMillis();
        return most == 0 ? Duration.ZERO : Duration.ofMillis(Math.floorMod(spread(schedule), most + 1));
    }

    /** Names that differ in one digit are to differ in more than a millisecond. */
    private static long spread(String schedule) {
        long hash = schedule.hashCode() * 0x9E3779B97F4A7C15L;
        return hash ^ hash >>> 32;
    }
}
