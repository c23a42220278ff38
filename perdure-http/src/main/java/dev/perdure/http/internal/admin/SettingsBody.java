package dev.perdure.http.internal.admin;

import dev.perdure.http.internal.route.Call;
import dev.perdure.http.internal.route.Problem;
import dev.perdure.queue.Limiter;
import dev.perdure.queue.Queue;
import java.time.DateTimeException;
import java.time.Duration;
import java.util.function.BiFunction;
import java.util.function.Function;
import tools.jackson.databind.JsonNode;

/** The limits in the body of a request: the settings of a queue or limiter as they are stored and shown, checked. */
final class SettingsBody {
    private static final String NONE = "none";
    private static final String TURNS = "turns:";

    private SettingsBody() {}

    /** A change of a queue. */
    static Queue queue(String name, JsonNode settings) {
        Queue changes = Queue.named(name);
        for (var each : settings.properties()) {
            changes = changed(changes, each.getKey(), each.getValue().asString());
        }
        return changes;
    }

    private static Queue changed(Queue queue, String setting, String value) {
        return switch (setting) {
            case "concurrency" -> queue.concurrency(limit(setting, value));
            case "per_worker" -> queue.perWorker(limit(setting, value));
            case "per_key" -> queue.perKey(limit(setting, value));
            case "burst" -> queue.burst(limit(setting, value));
            case "burst_per_key" -> queue.burstPerKey(limit(setting, value));
            case "rate" -> rate(setting, value, queue::rate);
            case "rate_per_key" -> rate(setting, value, queue::ratePerKey);
            case "ageing" -> queue.ageing(value.equals(NONE) ? Duration.ZERO : parsed(setting, value, Duration::parse));
            case "counting" -> queue.counting(Call.constant(Queue.Counting.class, "counting", value));
            case "when_key_full" ->
                queue.whenKeyFull(Call.constant(Queue.WhenKeyFull.class, "policy for full keys", value));
            default -> {
                if (setting.startsWith(TURNS)) {
                    yield queue.turns(setting.substring(TURNS.length()), limit(setting, value));
                }
                throw unknown("queue", setting);
            }
        };
    }

    /** A change of a limiter. */
    static Limiter limiter(String name, JsonNode settings) {
        Limiter changes = Limiter.named(name);
        for (var each : settings.properties()) {
            String value = each.getValue().asString();
            changes = switch (each.getKey()) {
                case "concurrency" -> changes.concurrency(limit(each.getKey(), value));
                case "burst" -> changes.burst(limit(each.getKey(), value));
                case "rate" -> rate(each.getKey(), value, changes::rate);
                default -> throw unknown("limiter", each.getKey());
            };
        }
        return changes;
    }

    private static Problem unknown(String kind, String setting) {
        return Problem.invalid("A %s has no setting '%s'. Use those that GET shows.".formatted(kind, setting));
    }

    private static int limit(String setting, String value) {
        return value.equals(NONE) ? Queue.UNLIMITED : parsed(setting, value, Integer::parseInt);
    }

    /** Such as {@code 100/PT1S}. */
    private static <T> T rate(String setting, String value, BiFunction<Integer, Duration, T> change) {
        if (value.equals(NONE)) {
            return change.apply(Queue.UNLIMITED, Duration.ofSeconds(1));
        }
        int slash = Math.max(value.indexOf('/'), 0);
        return change.apply(
                parsed(setting, value.substring(0, slash), Integer::parseInt),
                parsed(setting, value.substring(slash + 1), Duration::parse));
    }

    private static <T> T parsed(String setting, String value, Function<String, T> parser) {
        try {
            return parser.apply(value);
        } catch (DateTimeException | NumberFormatException | ArithmeticException wrong) {
            throw Problem.invalid(
                    "The setting '%s' is '%s'. Give a number such as 5, a rate such as 100/PT1S, a duration such as PT1M, or 'none'."
                            .formatted(setting, value));
        }
    }
}
