package dev.perdure.benchmarks.perdure;

import dev.perdure.RunChange;
import dev.perdure.RunState;
import dev.perdure.spi.measure.Measurements;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;

/** Keeps what an engine tells about itself, so that it can be told again, without the engine. */
final class RecordedEvents implements Measurements {
    private final Queue<Consumer<Measurements>> events = new ConcurrentLinkedQueue<>();

    /** Returns what was kept since the last call, in order. */
    List<Consumer<Measurements>> take() {
        List<Consumer<Measurements>> taken = List.copyOf(events);
        events.clear();
        return taken;
    }

    @Override
    public void changed(RunChange change) {
        events.add(measurements -> measurements.changed(change));
    }

    @Override
    public void began(String definition, String queue) {
        events.add(measurements -> measurements.began(definition, queue));
    }

    @Override
    public void ran(String definition, RunState state, long nanos) {
        events.add(measurements -> measurements.ran(definition, state, nanos));
    }

    @Override
    public void loaded() {
        events.add(Measurements::loaded);
    }

    @Override
    public void unloaded() {
        events.add(Measurements::unloaded);
    }

    @Override
    public void attempted(String definition, String queue, boolean succeeded, long nanos) {
        events.add(measurements -> measurements.attempted(definition, queue, succeeded, nanos));
    }

    @Override
    public void committing() {
        events.add(Measurements::committing);
    }

    @Override
    public void committed(int changes, long nanos) {
        events.add(measurements -> measurements.committed(changes, nanos));
    }

    @Override
    public void polled(int runs, long nanos) {
        events.add(measurements -> measurements.polled(runs, nanos));
    }

    @Override
    public void woke(Duration late) {
        events.add(measurements -> measurements.woke(late));
    }

    @Override
    public void renewed() {
        events.add(Measurements::renewed);
    }

    @Override
    public void recovered(int runs) {
        events.add(measurements -> measurements.recovered(runs));
    }

    @Override
    public void removed(int runs) {
        events.add(measurements -> measurements.removed(runs));
    }
}
