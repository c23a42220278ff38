package dev.perdure.internal.commit;

import dev.perdure.error.StoreException;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.report.EngineLog;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;

/**
 * Logs for the operator that the store, or what transforms payloads, refuses requests. The engine repeats such a request
 * until it is accepted.
 * Logs with the stack, at once and then rarely, however many runs wait. {@link Outage} reports an outage, which ends by
 * itself.
 */
public final class Refusals {
    private static final Logger LOG = EngineLog.of("dev.perdure.store");
    private static final long PAUSE = TimeUnit.MINUTES.toNanos(10);

    private final Clockwork clockwork;
    private final AtomicLong quietUntil;

    public Refusals(Clockwork clockwork) {
        this.clockwork = clockwork;
        this.quietUntil = new AtomicLong(clockwork.nanoTime());
    }

    /**
     * Logs that a request is refused, unless it was logged a short time ago.
     *
     * @param what the request, at the beginning of a sentence
     */
    public void noticed(String what, StoreException trouble) {
        long now = clockwork.nanoTime();
        long until = quietUntil.get();
        boolean isTime = trouble.kind() == StoreException.Kind.UNUSABLE && now - until >= 0;
        if (isTime && quietUntil.compareAndSet(until, now + PAUSE)) {
            LOG.error(
                    "{} is refused. It is made again until it is accepted, and no run fails meanwhile. "
                            + "Fix what the error names, such as rights, the schema, the password or the keys. This is said every {} minutes while it lasts.",
                    what,
                    TimeUnit.NANOSECONDS.toMinutes(PAUSE),
                    trouble);
        }
    }
}
