package dev.perdure.internal.check;

import dev.perdure.internal.time.SystemClockwork;
import dev.perdure.spi.Clockwork;
import java.time.Duration;
import java.time.Instant;

/**
 * Time as it was when a history was left: it stands still, so that what the run had waited for is over, and what it
 * still waits for is not.
 */
record FixedClockwork(SystemClockwork system, Instant now) implements Clockwork {
    @Override
    public long nanoTime() {
        return system.nanoTime();
    }

    @Override
    public long random() {
        return system.random();
    }

    @Override
    public Signal signal() {
        return system.signal();
    }

    @Override
    public void fork(String name, Runnable task) {
        system.fork(name, task);
    }

    @Override
    public void loop(String name, Runnable task) {
        system.loop(name, task);
    }

    @Override
    public Runnable alarm(Duration delay, Runnable task) {
        return system.alarm(delay, task);
    }
}
