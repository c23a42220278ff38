package dev.perdure.internal.commit;

import dev.perdure.error.StoreException;
import dev.perdure.spi.Clockwork;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the person on call that the store refuses requests, which are made again until it accepts them: with the stack, at
 * once and then rarely, however many runs wait. An outage, which ends by itself, is told by {@link Outage}.
 */
public final class Refusals {
    private static final Logger LOG = LoggerFactory.getLogger("dev.perdure.store");
    private static final long PAUSE = TimeUnit.MINUTES.toNanos(10);

    private final Clockwork clockwork;
    private final AtomicLong quietUntil;

    public Refusals(Clockwork clockwork) {
        this.clockwork = clockwork;
        this.quietUntil = new AtomicLong(clockwork.nanoTime());
    }

    /**
     * Logs that the store refuses a request, unless it was logged a short time ago.
     *
     * @param what the request, at the beginning of a sentence
     */
    public void noticed(String what, StoreException trouble) {
        long now = clockwork.nanoTime();
        long until = quietUntil.get();
        boolean isTime = trouble.kind() == StoreException.Kind.UNUSABLE && now - until >= 0;
        if (isTime && quietUntil.compareAndSet(until, now + PAUSE)) {
            LOG.error(
                    "{} is refused by the store. It is made again until the store accepts it, and no run fails meanwhile. "
                            + "Mend what the error names, such as rights, the schema or the password. This is said every {} minutes while it lasts.",
                    what,
                    TimeUnit.NANOSECONDS.toMinutes(PAUSE),
                    trouble);
        }
    }
}
