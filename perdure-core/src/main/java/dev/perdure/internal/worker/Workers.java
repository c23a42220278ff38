package dev.perdure.internal.worker;

import dev.perdure.RunId;
import dev.perdure.spi.Hints;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.shard.Parts;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/** The workers of an engine: one for each part of its store, or none if the engine is a client. */
public final class Workers {
    private final Parts parts;
    private final List<Worker> all = new ArrayList<>();

    private Workers(Parts parts) {
        this.parts = parts;
    }

    /** None: the runs that the engine starts are ready for the workers of others. */
    public static Workers none(Parts parts) {
        return new Workers(parts);
    }

    /** One for each part. If a part is out of reach now, none of them stays. */
    public static Workers joining(Parts parts, IntFunction<Worker> joining) {
        Workers workers = new Workers(parts);
        try {
            for (int part = 0; part < parts.stores().size(); part++) {
                workers.all.add(joining.apply(part));
            }
        } catch (RuntimeException | Error refused) {
            workers.all.forEach(Worker::crash);
            throw refused;
        }
        return workers;
    }

    /** The worker that can hold the run with this id, or null for a client. */
    public @Nullable Worker of(RunId run) {
        return all.isEmpty() ? null : all.get(parts.of(run));
    }

    /** The worker of a part, or null for a client. */
    public @Nullable Worker of(int part) {
        return all.isEmpty() ? null : all.get(part);
    }

    /** Lets them begin to work. */
    public void start() {
        all.forEach(Worker::start);
    }

    /** Whether one of them holds the run. */
    public boolean areHolding(RunRef run) {
        Worker worker = of(run.id());
        return worker != null && worker.isHere(run);
    }

    /** Passes on a hint of a part. */
    public void hint(int part, Hints.Hint hint) {
        if (!all.isEmpty()) {
            all.get(part).hint(hint);
        }
    }

    /** Closes all of them. */
    public void close() {
        all.forEach(Worker::close);
    }

    /** Stops as if the process had been killed. */
    public void crash() {
        all.forEach(Worker::crash);
    }
}
