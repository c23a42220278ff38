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

    /** A rule whose times are all excluded must not keep a worker busy for ever. */
    private static final int MOST_EXCLUDED = 10_000;

    private final Map<String, CronTimes> expressions = new ConcurrentHashMap<>();

    /**
     * What the next times depend on besides the spec.
     *
     * @param since when the schedule was made
     * @param idleSince since when no run of it is at work, or null if one is: for times that follow an end
     */
    record Basis(Instant since, @Nullable Instant idleSince) {}

    /** The first time after this one, if there is any. */
    Optional<Instant> next(ScheduleSpec spec, Instant after, Basis basis) {
        Instant from = spec.bounds().from();
        Instant start = from != null && after.isBefore(from) ? from.minusNanos(1) : after;
        for (int excluded = 0; excluded < MOST_EXCLUDED; excluded++) {
            Instant last = start;
            Optional<Instant> next = spec.rules().stream()
                    .flatMap(rule -> next(rule, spec, last, basis).stream())
                    .min(Comparator.naturalOrder());
            Instant until = spec.bounds().until();
            if (next.isEmpty() || (until != null && next.get().isAfter(until))) {
                return Optional.empty();
            }
            if (!isExcluded(spec, next.get())) {
                return next;
            }
            start = next.get();
        }
        return Optional.empty();
    }

    private Optional<Instant> next(Rule rule, ScheduleSpec spec, Instant after, Basis basis) {
        return switch (rule.kind()) {
            case CRON -> cron(rule).next(after);
            case EVERY -> Optional.of(every(duration(rule), spec.bounds().from(), basis.since(), after));
            case AFTER_END -> afterEnd(duration(rule), spec.bounds().from(), after, basis);
            case AT -> instants(rule).filter(time -> time.isAfter(after)).findFirst();
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

    private static boolean isExcluded(ScheduleSpec spec, Instant time) {
        return spec.exclusions().stream()
                .anyMatch(exclusion ->
                        time.atZone(ZoneId.of(exclusion.zone())).toLocalDate().equals(exclusion.day()));
    }

    /**
     * The last time after {@code after} and not after {@code horizon}, if there is any. Looks back from the end,
     * further and further: a schedule for every second that no worker fired for a year has many times.
     */
    Optional<Instant> last(ScheduleSpec spec, Instant after, Instant horizon, Basis basis) {
        Duration back = Duration.ofMinutes(1);
        while (true) {
            Instant start = horizon.minus(back);
            boolean all = start.isBefore(after);
            Optional<Instant> found = next(spec, all ? after : start, basis).filter(time -> !time.isAfter(horizon));
            if (found.isPresent() || all) {
                Optional<Instant> later = found;
                while (later.isPresent()) {
                    found = later;
                    later = next(spec, later.get(), basis).filter(time -> !time.isAfter(horizon));
                }
                return found;
            }
            back = back.multipliedBy(32);
        }
    }

    /** The rules in words. */
    public static String words(ScheduleSpec spec) {
        List<String> words = spec.rules().stream().map(FireTimes::words).toList();
        String days = spec.exclusions().isEmpty()
                ? ""
                : ", except on %d days".formatted(spec.exclusions().size());
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
