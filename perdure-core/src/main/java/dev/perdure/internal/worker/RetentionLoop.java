package dev.perdure.internal.worker;

import dev.perdure.internal.commit.Backoff;
import dev.perdure.internal.commit.Outage;
import dev.perdure.internal.payload.PayloadSweep;
import dev.perdure.internal.settings.Settings;
import dev.perdure.internal.time.Waiting;
import dev.perdure.retention.Retention;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Removals;
import dev.perdure.spi.report.EngineLog;
import java.time.Duration;
import org.slf4j.Logger;

/**
 * Removes old runs, batch by batch, and the large payloads to which no row refers any more. The store decides what is due
 * and lets one worker of all processes work at a time, so every worker has this loop and none of them leads. A worker
 * that stops in between leaves nothing behind: a batch is a transaction, and the next batch of any worker goes on.
 */
final class RetentionLoop {
    private static final Logger LOG = EngineLog.of("dev.perdure.worker");
    /** How many runs a batch looks at. The store takes fewer, if that takes too long. */
    private static final int BATCH = 1_000;

    private static final Duration FIRST = Duration.ofMinutes(1);

    private final Settings settings;
    private final PayloadSweep payloads;
    private final Clockwork.Signal tick;
    private long nextSweep;
    private volatile boolean closed;

    RetentionLoop(Settings settings) {
        this.settings = settings;
        this.payloads = new PayloadSweep(
                settings.rules().codec().store(), settings.store().payloads());
        this.nextSweep = settings.clockwork().nanoTime();
        this.tick = settings.clockwork().signal();
    }

    void close() {
        closed = true;
        tick.raise();
    }

    void loop() {
        Backoff backoff = new Backoff(settings.clockwork());
        Outage outage = new Outage("remove old runs");
        long rest = first();
        while (!closed) {
            Waiting.housekeeping(tick, rest);
            if (closed) {
                return;
            }
            try {
                rest = Math.min(remove(), sweep());
                backoff.reset();
                outage.over();
            } catch (Throwable thrown) { // Any error: without this loop, the store would grow for ever.
                outage.noticed(thrown);
                backoff.pause();
            }
        }
    }

    /** Not at once, because a process that starts has more urgent work. */
    private long first() {
        Retention declared = settings.retention();
        Duration soon = declared == null ? FIRST : Removals.rest(declared);
        return (soon.compareTo(FIRST) < 0 ? soon : FIRST).toNanos();
    }

    /** Removes large payloads, if it is time and no other worker does. Returns how long until the next time. */
    private long sweep() {
        long now = settings.clockwork().nanoTime();
        if (now - nextSweep >= 0) {
            int removed = payloads.passInTurn(() -> closed);
            if (removed > 0) {
                LOG.debug("Removed {} large payloads to which nothing refers.", removed);
            }
            nextSweep = now + PayloadSweep.REST.toNanos();
        }
        return nextSweep - now;
    }

    /** Works at most half of the time, so that the other statements of this and other workers come through. */
    private long remove() {
        long began = settings.clockwork().nanoTime();
        Removals.Removed removed = settings.store().removals().remove(BATCH);
        if (removed.runs() > 0) {
            settings.rules().measurements().removed(removed.runs());
            LOG.debug("Removed {} runs whose retention is over.", removed.runs());
        }
        return Math.max(removed.again().toNanos(), settings.clockwork().nanoTime() - began);
    }
}
