package dev.perdure.internal.commit;

import dev.perdure.spi.Clockwork;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** Time and chance as the test sets them. Waits return at once, and are noted. */
final class ManualClockwork implements Clockwork {
    private final List<Duration> waits = new ArrayList<>();
    private long nanoTime;
    private long random;

    ManualClockwork(long nanoTime) {
        this.nanoTime = nanoTime;
    }

    void moveOn(Duration time) {
        nanoTime += time.toNanos();
    }

    void random(long bits) {
        random = bits;
    }

    /** The waits for housekeeping so far. */
    List<Duration> waits() {
        return waits;
    }

    @Override
    public Instant now() {
        return Instant.EPOCH;
    }

    @Override
    public long nanoTime() {
        return nanoTime;
    }

    @Override
    public long random() {
        return random;
    }

    @Override
    public Signal signal() {
        return new Signal() {
            @Override
            public void raise() {}

            @Override
            public boolean await(long timerNanos, long housekeepingNanos) {
                waits.add(Duration.ofNanos(housekeepingNanos));
                return false;
            }
        };
    }

    @Override
    public void fork(String name, Runnable task) {
        throw new UnsupportedOperationException(name);
    }

    @Override
    public void loop(String name, Runnable task) {
        throw new UnsupportedOperationException(name);
    }

    @Override
    public Runnable alarm(Duration delay, Runnable task) {
        throw new UnsupportedOperationException("alarm");
    }
}
