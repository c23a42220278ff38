package dev.perdure.http.internal.guard;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/**
 * Limits how often one address may fail to authenticate, or one user who has signed in. An address with too many
 * failures in a minute is refused until that minute is over, also with the right token: otherwise it could go on
 * guessing. Thread-safe.
 */
public final class FailureLimit {
    /** How many failures an address has in a minute at most. */
    public static final int MOST_FAILURES = 10;

    private static final long WINDOW = Duration.ofMinutes(1).toNanos();
    private static final int MOST_ADDRESSES = 10_000;

    private final LongSupplier nanoTime;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Failures> byAddress = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Failures> eldest) {
            return size() > MOST_ADDRESSES;
        }
    };

    /** The failures of an address since a time. */
    private record Failures(long since, int count) {}

    /** With this clock. */
    public FailureLimit(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /** Whether the address has failed too often. */
    public boolean blocks(String address) {
        lock.lock();
        try {
            Failures failures = byAddress.get(address);
            return failures != null && failures.count() >= MOST_FAILURES && !isOver(failures);
        } finally {
            lock.unlock();
        }
    }

    /** Counts a failure. */
    public void count(String address) {
        lock.lock();
        try {
            byAddress.compute(
                    address,
                    (same, before) -> before == null || isOver(before)
                            ? new Failures(nanoTime.getAsLong(), 1)
                            : new Failures(before.since(), before.count() + 1));
        } finally {
            lock.unlock();
        }
    }

    private boolean isOver(Failures failures) {
        return nanoTime.getAsLong() - failures.since() > WINDOW;
    }
}
