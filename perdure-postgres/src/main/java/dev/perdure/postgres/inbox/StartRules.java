package dev.perdure.postgres.inbox;

import dev.perdure.StartKey;
import dev.perdure.StartKey.Debounce;
import dev.perdure.StartKey.Deduplication;
import dev.perdure.StartKey.Duplicate;
import dev.perdure.StartKey.IdempotencyKey;
import dev.perdure.StartKey.Until;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.postgres.jdbc.Micros;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** How the inbox stores the keys of starts: as a rule that SQL can also write, and times. */
final class StartRules {
    private static final String LIVE = "live";
    private static final String QUIET = "quiet";

    private StartRules() {}

    static String rule(StartKey key) {
        return switch (key) {
            case Deduplication(String text, Until until, Duplicate duplicate) -> rule(until, duplicate);
            case IdempotencyKey idempotency -> LIVE;
            case Debounce debounce -> QUIET;
        };
    }

    private static String rule(Until until, Duplicate duplicate) {
        return "%s %s".formatted(until, duplicate).toLowerCase(Locale.ROOT);
    }

    static @Nullable Duration time(StartKey key) {
        return switch (key) {
            case Deduplication deduplication -> null;
            case IdempotencyKey idempotency -> idempotency.timeToLive();
            case Debounce debounce -> debounce.quiet();
        };
    }

    static @Nullable Duration longest(StartKey key) {
        return key instanceof Debounce debounce ? debounce.longestWait() : null;
    }

    /** The key of a row, or null. It is checked again, because plain SQL may have inserted it. */
    static @Nullable StartKey read(ResultSet row) throws SQLException {
        String key = row.getString("start_key");
        if (key == null) {
            return null;
        }
        String rule = row.getString("start_rule");
        Duration time = Micros.durationOrNull(row, "key_time");
        Duration longest = Micros.durationOrNull(row, "key_longest");
        if (LIVE.equals(rule) && time != null) {
            return new IdempotencyKey(key, time);
        }
        if (QUIET.equals(rule) && time != null && longest != null) {
            return new Debounce(key, time, longest);
        }
        for (Until until : Until.values()) {
            for (Duplicate duplicate : Duplicate.values()) {
                if (rule(until, duplicate).equals(rule)) {
                    return new Deduplication(key, until, duplicate);
                }
            }
        }
        throw new InvalidRequestException(
                "The rule '%s' of the start key '%s' is unknown, or lacks its times. Start the run with start_run_under_key."
                        .formatted(rule, key));
    }
}
