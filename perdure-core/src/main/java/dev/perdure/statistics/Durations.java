package dev.perdure.statistics;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/**
 * How long many things of one kind took. A percentile is a time that was measured: p95 is the shortest of these than
 * which at most five of a hundred took longer.
 *
 * @param count how many were measured
 * @param p50 the median
 * @param p95 the 95th percentile
 * @param p99 the 99th percentile
 * @param longest the longest
 * @param total the sum of all
 */
public record Durations(int count, Duration p50, Duration p95, Duration p99, Duration longest, Duration total) {
    private static final int WHOLE = 100;

    /** The percentiles of these times; empty if there are none. */
    public static Optional<Durations> of(Collection<Duration> measured) {
        if (measured.isEmpty()) {
            return Optional.empty();
        }
        List<Duration> sorted = measured.stream().sorted().toList();
        return Optional.of(new Durations(
                sorted.size(),
                percentile(sorted, 50),
                percentile(sorted, 95),
                percentile(sorted, 99),
                sorted.getLast(),
                sorted.stream().reduce(Duration.ZERO, Duration::plus)));
    }

    /** By the nearest rank. */
    private static Duration percentile(List<Duration> sorted, int percent) {
        return sorted.get((sorted.size() * percent + WHOLE - 1) / WHOLE - 1);
    }
}
