package dev.perdure.postgres.transaction;

import dev.perdure.spi.report.EngineLog;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;

/**
 * Deletes old rows at intervals. The first write after an interval starts the deletion in its own thread, and does not
 * wait for it. So no timer is needed, and only processes that write rows delete them.
 */
public final class Tidying {
    private static final Logger LOG = EngineLog.of("dev.perdure.store");

    private final Runnable forget;
    private final long everyNanos;
    private final AtomicLong last;

    public Tidying(Runnable forget, Duration every) {
        this.forget = forget;
        this.everyNanos = every.toNanos();
        // The first write starts it: a process may not live as long as the interval.
        this.last = new AtomicLong(System.nanoTime() - everyNanos);
    }

    public void tidyUp() {
        long before = last.get();
        long now = System.nanoTime();
        if (now - before >= everyNanos && last.compareAndSet(before, now)) {
            Thread.ofVirtual().name("perdure-tidying").start(this::forget);
        }
    }

    private void forget() {
        try {
            forget.run();
        } catch (RuntimeException trouble) {
            LOG.debug("Could not delete old rows; will try again later.", trouble);
        }
    }
}
