package dev.perdure.internal.handle;

import java.time.Duration;

/** How long a caller is willing to wait. */
final class WaitLimit {
    private static final Duration LONGEST = Duration.ofDays(36_500);

    private WaitLimit() {}

    /** In nanoseconds, which hold fewer years than a duration does. */
    static long nanos(Duration timeout) {
        Duration limit = timeout.compareTo(LONGEST) < 0 ? timeout : LONGEST;
        return limit.isNegative() ? 0 : limit.toNanos();
    }
}
