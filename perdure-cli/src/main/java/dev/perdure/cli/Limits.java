package dev.perdure.cli;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.queue.Queue;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Map;
import java.util.stream.Collectors;

/** Limits of queues and limiters, as operators write and read them. */
final class Limits {
    private static final String NONE = "none";

    private Limits() {}

    /** A limit: a number, or none. */
    static int number(String option, String value) {
        try {
            return value.equals(NONE) ? Queue.UNLIMITED : Integer.parseInt(value);
        } catch (NumberFormatException wrong) {
            throw new InvalidRequestException(
                    "%s is '%s'. Give a number of at least 1, or none.".formatted(option, value));
        }
    }

    /** The number of a rate, such as 100/PT1M, or none. */
    static int units(String option, String rate) {
        int slash = rate.indexOf('/');
        return number(option, slash < 0 ? rate : rate.substring(0, slash));
    }

    /** The period of a rate. */
    static Duration period(String option, String rate) {
        int slash = rate.indexOf('/');
        try {
            return rate.equals(NONE) ? Duration.ofSeconds(1) : Duration.parse(rate.substring(slash + 1));
        } catch (DateTimeParseException wrong) {
            throw new InvalidRequestException(
                    "%s is '%s'. Give a number and a period, such as 100/PT1M, or none.".formatted(option, rate));
        }
    }

    /** A period, or none, which is zero. */
    static Duration duration(String option, String value) {
        try {
            return value.equals(NONE) ? Duration.ZERO : Duration.parse(value);
        } catch (DateTimeParseException wrong) {
            throw new InvalidRequestException(
                    "%s is '%s'. Give a period, such as PT10M, or none.".formatted(option, value));
        }
    }

    /** All settings of a queue or a limiter. */
    static String text(Map<String, String> settings) {
        return settings.isEmpty()
                ? NONE
                : settings.entrySet().stream()
                        .map(setting -> setting.getKey().replace('_', ' ') + " " + setting.getValue())
                        .collect(Collectors.joining(", "));
    }

    /** Refuses a change that names no limit. */
    static void requireChange(Map<String, String> settings) {
        if (settings.isEmpty()) {
            throw new InvalidRequestException(
                    "Nothing to change. Name a limit, such as --concurrency 5 or --concurrency none.");
        }
    }
}
