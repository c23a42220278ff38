package dev.perdure.postgres.write;

import dev.perdure.error.StoreException;
import dev.perdure.spi.report.EngineLog;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.slf4j.Logger;

/**
 * Looks from time to time for cycles of calls whose makers died before they looked. Sweeps ask for it, and the thread of a
 * sweep keeps a lease, so each search has a thread of its own. After it, the next one has to wait ten times as long as it
 * took: many processes look for the same cycles, and together they must not cost more than the work.
 */
public final class OldCycles implements AutoCloseable {
    private static final Logger LOG = EngineLog.of("dev.perdure.store");
    private static final int RESTS = 10;
    private static final long AFTER_FAILURE = TimeUnit.SECONDS.toNanos(5);

    private final Runnable search;
    private final Executor threads;
    private final LongSupplier nanoTime;
    private final AtomicBoolean underWay = new AtomicBoolean();
    private volatile long notBefore;
    private volatile boolean closed;

    /** @param search looks once, in the thread of its caller */
    public OldCycles(Runnable search) {
        this(search, task -> Thread.ofVirtual().name("perdure-old-call-cycles").start(task), System::nanoTime);
    }

    /** The same with other threads, and another monotonic time than the machine's. */
    public OldCycles(Runnable search, Executor threads, LongSupplier nanoTime) {
        this.search = search;
        this.threads = threads;
        this.nanoTime = nanoTime;
        this.notBefore = nanoTime.getAsLong();
    }

    /** Begins a search, unless one is under way or it is too early for another. */
    public void look() {
        if (nanoTime.getAsLong() - notBefore >= 0 && underWay.compareAndSet(false, true)) {
            threads.execute(this::lookOnce);
        }
    }

    private void lookOnce() {
        long began = nanoTime.getAsLong();
        long rest = AFTER_FAILURE;
        try {
            search.run();
            rest = RESTS * (nanoTime.getAsLong() - began);
        } catch (StoreException outOfReach) {
            LOG.debug("Calls that wait for each other are looked for again when the database answers.", outOfReach);
        } catch (RuntimeException | Error thrown) {
            if (!closed) {
                LOG.error("The search for calls that wait for each other failed. It is made again.", thrown);
            }
        } finally {
            notBefore = nanoTime.getAsLong() + rest;
            underWay.set(false);
        }
    }

    @Override
    public void close() {
        closed = true;
    }
}
