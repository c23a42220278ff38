package dev.perdure.simulation.scene;

import dev.perdure.RunId;
import dev.perdure.testing.internal.simulation.SimulatedProcess;
import dev.perdure.testing.internal.simulation.World;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The bodies that are at work. A process that has lost a run interrupts the body of that run before another process
 * begins it: by then its lease has ended by its own clock. A process that stood still does so as soon as it continues,
 * and one that the store took for dead as soon as it knows.
 */
final class Bodies {
    /** Clocks drift, and a process that continues needs a few turns. */
    private static final long MOST_OVERLAP = Duration.ofMillis(20).toNanos();

    private final World world;
    private final List<Body> atWork = new ArrayList<>();

    /** A body of a run, in a process. */
    static final class Body {
        private final RunId run;
        private final SimulatedProcess process;
        private long overtakenAt = Long.MAX_VALUE;
        private String by = "";

        Body(RunId run, SimulatedProcess process) {
            this.run = run;
            this.process = process;
        }
    }

    Bodies(World world) {
        this.world = world;
    }

    /** The body whose thread calls this is at work now. Null in threads that are not of a run. */
    @Nullable
    Body begin() {
        RunId run = world.runHere().orElse(null);
        if (run == null) {
            return null;
        }
        Body body = new Body(run, world.here());
        // A process that has just stood still, or was taken for dead, may begin what others have taken from it, until
        // it
        // notices: it overtakes no one.
        boolean stale = world.nanoTime() - body.process.unawareUntil() <= MOST_OVERLAP;
        for (Body other : atWork) {
            if (!stale
                    && other.run.equals(run)
                    && other.process != body.process
                    && other.overtakenAt == Long.MAX_VALUE) {
                other.overtakenAt = world.nanoTime();
                other.by = body.process.name();
            }
        }
        atWork.add(body);
        return body;
    }

    /** The body was not interrupted. Returns what is wrong with that, if anything. */
    Optional<String> goOn(@Nullable Body body) {
        if (body == null || body.overtakenAt == Long.MAX_VALUE || body.process.isDead()) {
            return Optional.empty();
        }
        long since = Math.max(body.overtakenAt, body.process.unawareUntil());
        long overlap = world.nanoTime() - since;
        return overlap <= MOST_OVERLAP
                ? Optional.empty()
                : Optional.of("The body of %s in %s went on for %s after %s had begun it again."
                        .formatted(body.run, body.process.name(), Duration.ofNanos(overlap), body.by));
    }

    void end(@Nullable Body body) {
        if (body != null) {
            atWork.remove(body);
        }
    }
}
