package dev.perdure.spring.boot.http;

import java.util.concurrent.atomic.AtomicBoolean;
import org.springframework.context.SmartLifecycle;

/** Does something in a phase of the start and the stop of an application. */
final class Phase implements SmartLifecycle {
    private final int number;
    private final Runnable starts;
    private final Runnable stops;
    private final AtomicBoolean running = new AtomicBoolean();

    Phase(int number, Runnable starts, Runnable stops) {
        this.number = number;
        this.starts = starts;
        this.stops = stops;
    }

    @Override
    public void start() {
        starts.run();
        running.set(true);
    }

    @Override
    public void stop() {
        running.set(false);
        stops.run();
    }

    @Override
    public boolean isRunning() {
        return running.get();
    }

    @Override
    public int getPhase() {
        return number;
    }
}
