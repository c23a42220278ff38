package dev.perdure.internal.execution.transition;

import dev.perdure.spi.Clockwork;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * How long a body may take, and for how long it may report nothing.
 *
 * <p>How it works: an alarm rings when the timeout ends. If the body has extended the timeout, the alarm is set again
 * for the extension. Another alarm rings four times in the length of the heartbeat timeout, and looks whether the body
 * has reported anything since. So a report only sets a flag, and a body that hangs is interrupted after its heartbeat
 * timeout and before a quarter more. Only alarms tell the time, because only they go by real time in tests.
 */
public final class BodyLimits {
    private static final Duration LONGEST = Duration.ofDays(36_500);
    private static final int LOOKS = 4;

    private final @Nullable Duration heartbeat;
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable Duration timeout;
    private Duration extension = Duration.ZERO;
    private boolean extended;
    private boolean reported;
    private int looksInVain;
    private boolean silent;
    private boolean armed;
    private Runnable timeoutOff = () -> {};
    private Runnable heartbeatOff = () -> {};

    private BodyLimits(@Nullable Duration timeout, @Nullable Duration heartbeat) {
        this.timeout = timeout;
        this.heartbeat = heartbeat;
    }

    /** The limits, or null if there are none. */
    public static @Nullable BodyLimits of(@Nullable Duration timeout, @Nullable Duration heartbeat) {
        return timeout == null && heartbeat == null ? null : new BodyLimits(timeout, heartbeat);
    }

    /**
     * A body begins.
     *
     * @param ends is called once, when a limit has ended
     * @return ends the limits
     */
    Runnable arm(Clockwork alarms, Runnable ends) {
        lock.lock();
        try {
            armed = true;
            if (timeout != null) {
                setTimeout(alarms, timeout, ends);
            }
            if (heartbeat != null) {
                setLook(alarms, heartbeat.dividedBy(LOOKS), ends);
            }
        } finally {
            lock.unlock();
        }
        return this::disarm;
    }

    private void disarm() {
        lock.lock();
        try {
            armed = false;
            timeoutOff.run();
            heartbeatOff.run();
        } finally {
            lock.unlock();
        }
    }

    private void setTimeout(Clockwork alarms, Duration delay, Runnable ends) {
        timeoutOff = alarms.alarm(delay, () -> ring(() -> isLate(alarms, ends), ends));
    }

    private void setLook(Clockwork alarms, Duration delay, Runnable ends) {
        heartbeatOff = alarms.alarm(delay, () -> ring(() -> isSilent(alarms, delay, ends), ends));
    }

    /** What ends the body runs outside the lock, because it takes the lock of the guard. */
    private void ring(BooleanSupplier isOver, Runnable ends) {
        boolean over;
        lock.lock();
        try {
            over = armed && isOver.getAsBoolean();
            armed &= !over;
        } finally {
            lock.unlock();
        }
        if (over) {
            ends.run();
        }
    }

    private boolean isLate(Clockwork alarms, Runnable ends) {
        if (extension.isZero()) {
            return true;
        }
        Duration more = extension;
        extension = Duration.ZERO;
        setTimeout(alarms, more, ends);
        return false;
    }

    private boolean isSilent(Clockwork alarms, Duration delay, Runnable ends) {
        looksInVain = reported ? 0 : looksInVain + 1;
        reported = false;
        silent = looksInVain == LOOKS;
        if (!silent) {
            setLook(alarms, delay, ends);
        }
        return silent;
    }

    /** The body has reported something. */
    public void beat() {
        lock.lock();
        try {
            reported = true;
        } finally {
            lock.unlock();
        }
    }

    /** Lets the timeout end later, if there is one. */
    public void extend(Duration by) {
        lock.lock();
        try {
            if (timeout != null) {
                Duration longer = timeout.plus(by);
                Duration bounded = longer.compareTo(LONGEST) > 0 ? LONGEST : longer;
                extension = extension.plus(bounded.minus(timeout));
                timeout = bounded;
                extended = true;
            }
        } finally {
            lock.unlock();
        }
    }

    /** Why the body was interrupted, such as {@code took longer than PT10S}. */
    public String reason() {
        lock.lock();
        try {
            return silent
                    ? "reported nothing for longer than %s, its heartbeat timeout".formatted(heartbeat)
                    : "took longer than %s%s".formatted(timeout, extended ? ", its extended timeout" : "");
        } finally {
            lock.unlock();
        }
    }
}
