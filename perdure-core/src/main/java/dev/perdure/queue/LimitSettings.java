package dev.perdure.queue;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.internal.text.Texts;
import dev.perdure.queue.Queue.Rate;
import java.time.Duration;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a queue or a limiter: names with texts, as stores keep them. A setting that lifts a limit is kept as
 * "none", because it may lift one that the code declares.
 *
 * @param kind what has the settings, as messages name it: "queue" or "limiter"
 * @param name its name
 * @param values the settings
 */
record LimitSettings(String kind, String name, Map<String, String> values) {
    static final String NONE = "none";

    private static final Duration LONGEST_PERIOD = Duration.ofDays(366);

    LimitSettings {
        values = Collections.unmodifiableMap(new TreeMap<>(values));
    }

    LimitSettings with(String setting, String value) {
        return with(Map.of(setting, value));
    }

    LimitSettings with(Map<String, String> changes) {
        Map<String, String> both = new TreeMap<>(values);
        both.putAll(changes);
        return new LimitSettings(kind, name, both);
    }

    /** @param method the method that sets it, as messages name it */
    LimitSettings limit(String setting, String method, int most) {
        requireLimit(method, most);
        return with(setting, most == Queue.UNLIMITED ? NONE : String.valueOf(most));
    }

    LimitSettings rate(String setting, String method, int most, Duration period) {
        requireLimit(method, most);
        requirePeriod(method, period);
        return with(setting, most == Queue.UNLIMITED ? NONE : most + "/" + period);
    }

    private void requireLimit(String method, int most) {
        if (most < 1) {
            throw new InvalidRequestException(
                    "%s of the %s '%s' is %s; it is at least 1. To let nothing begin, pause the %s."
                            .formatted(method, kind, name, most, kind));
        }
    }

    void requirePeriod(String method, @Nullable Duration period) {
        Duration given = Texts.requireGiven("period of the %s of the %s '%s'".formatted(method, kind, name), period);
        if (given.compareTo(Duration.ofMillis(1)) < 0 || given.compareTo(LONGEST_PERIOD) > 0) {
            throw new InvalidRequestException(
                    "The period of the %s of the %s '%s' is %s; it is at least a millisecond and at most %s days."
                            .formatted(method, kind, name, given, LONGEST_PERIOD.toDays()));
        }
    }

    InvalidRequestException unreadable(RuntimeException cause) {
        return new InvalidRequestException("The settings of the %s '%s' are %s, and one of them cannot be read: %s."
                .formatted(kind, name, values, cause.getMessage()));
    }

    /** The text of a setting, unless it is missing or none. */
    Optional<String> text(String setting) {
        return Optional.ofNullable(values.get(setting)).filter(value -> !value.equals(NONE));
    }

    OptionalInt limit(String setting) {
        return text(setting).map(Integer::parseInt).map(OptionalInt::of).orElseGet(OptionalInt::empty);
    }

    Optional<Rate> rate(String setting) {
        return text(setting).map(value -> {
            int slash = value.indexOf('/');
            return new Rate(Integer.parseInt(value.substring(0, slash)), Duration.parse(value.substring(slash + 1)));
        });
    }

    Optional<Queue.Windows> windows(String setting, String burst) {
        return rate(setting).map(rate -> Queue.Windows.of(rate, limit(burst).orElse(Queue.UNLIMITED)));
    }
}
