package dev.perdure.postgres.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/** Times in PostgreSQL's resolution. They are rounded up, so that a timer never fires early. */
public final class Micros {
    /** Far longer than any wait, and short enough for a PostgreSQL timestamp. */
    private static final Duration LONGEST = Duration.ofDays(365L * 7_000);

    private static final Instant LATEST = Instant.parse("9999-01-01T00:00:00Z");

    private Micros() {}

    public static long of(Duration duration) {
        Duration bounded = duration.compareTo(LONGEST) > 0 ? LONGEST : duration;
        long micros = bounded.toSeconds() * 1_000_000 + bounded.toNanosPart() / 1_000;
        return bounded.toNanosPart() % 1_000 == 0 ? micros : micros + 1;
    }

    public static @Nullable Long ofNullable(@Nullable Duration duration) {
        return duration == null ? null : of(duration);
    }

    public static @Nullable Duration durationOrNull(ResultSet row, String column) throws SQLException {
        long micros = row.getLong(column);
        return row.wasNull() ? null : Duration.of(micros, ChronoUnit.MICROS);
    }

    public static long of(Instant time) {
        Instant bounded = time.isAfter(LATEST) ? LATEST : time;
        long micros = ChronoUnit.MICROS.between(Instant.EPOCH, bounded);
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS).isBefore(bounded) ? micros + 1 : micros;
    }
}
