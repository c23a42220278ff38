package dev.perdure.internal.handle;

import java.time.Duration;

/** How long a caller waits at most. */
final class WaitLimit {
    private static final Duration LONGEST = Duration.ofDays(36_500);

    private WaitLimit() {}

    /** The limit in nanoseconds. A long holds fewer years of nanoseconds than a Duration. */
    static long nanos(Duration timeout) {
        Duration limit = timeout.compareTo(LONGEST) < 0 ? timeout : LONGEST;
        return limit.isNegative() ? 0 : limit.toNanos();
    }
}
