package dev.perdure.cli.output;

import java.time.Duration;
import java.time.Instant;

/** Times and durations as people say them, in the largest unit that fits. */
public final class Ages {
    private static final Duration MOMENT = Duration.ofSeconds(1);
    private static final long DAYS_SHOWN_AS_HOURS = 2;

    private Ages() {}

    /** A time seen from now: {@code 3 min ago}, {@code in 2 h}, {@code now}. */
    public static String age(Instant at, Instant now) {
        Duration since = Duration.between(at, now);
        if (since.abs().compareTo(MOMENT) < 0) {
            return "now";
        }
        return since.isNegative() ? "in " + whole(since.abs()) : whole(since) + " ago";
    }

    /** A duration: {@code 12 ms}, {@code 1.2 s}, {@code 3 min}. */
    public static String duration(Duration duration) {
        Duration length = duration.abs();
        if (length.compareTo(MOMENT) < 0) {
            return length.toMillis() + " ms";
        }
        return length.compareTo(Duration.ofMinutes(1)) < 0
                ? "%s.%s s".formatted(length.toSeconds(), length.toMillisPart() / 100)
                : whole(length);
    }

    private static String whole(Duration length) {
        if (length.compareTo(Duration.ofMinutes(1)) < 0) {
            return length.toSeconds() + " s";
        }
        if (length.compareTo(Duration.ofHours(1)) < 0) {
            return length.toMinutes() + " min";
        }
        return length.compareTo(Duration.ofDays(DAYS_SHOWN_AS_HOURS)) < 0
                ? length.toHours() + " h"
                : length.toDays() + " days";
    }
}
