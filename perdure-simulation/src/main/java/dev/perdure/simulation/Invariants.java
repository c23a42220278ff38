package dev.perdure.simulation;

import dev.perdure.RunFilter;
import dev.perdure.RunId;
import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.TypeRef;
import dev.perdure.simulation.scene.Operator;
import dev.perdure.testing.internal.simulation.World;
import java.time.Duration;
import java.util.List;

/** What must hold after every history, whatever its scenes did. */
final class Invariants {
    /** By the clock of leases and polls; the timers of workflows are skipped. */
    private static final Duration MOST_TIME = Duration.ofMinutes(2);

    private final World world;

    Invariants(World world) {
        this.world = world;
    }

    /** Liveness: now that no faults happen any more, every run ends within a bounded time. */
    void awaitEnd() {
        long end = world.nanoTime() + MOST_TIME.toNanos();
        List<RunInfo> open = open();
        for (RunInfo run : open) {
            if (run.state() == RunState.PAUSED
                    && run.reason().filter(Operator.REASON::equals).isPresent()) {
                throw new AssertionError("Run %s is paused, although it was resumed after that.".formatted(run.id()));
            }
        }
        while (!open.isEmpty()) {
            if (world.nanoTime() > end) {
                throw new AssertionError("After %s without faults, these runs have not ended: %s"
                        .formatted(
                                MOST_TIME,
                                open.stream()
                                        .map(run -> run.id() + " " + run.state()
                                                + run.reason()
                                                        .map(r -> ": " + r)
                                                        .orElse(""))
                                        .toList()));
            }
            for (RunInfo run : open) {
                if (run.state() == RunState.PAUSED) {
                    world.client().run(run.id(), TypeRef.of(Object.class)).resume();
                }
            }
            world.idle(Duration.ofMillis(500));
            open = open();
        }
    }

    private List<RunInfo> open() {
        return world.store().runs().list(RunFilter.all().limit(10_000)).stream()
                .filter(run -> !run.state().isTerminal() && !isIdleSchedule(run))
                .toList();
    }

    /** A schedule never ends. One that has fired for the last time waits for commands only. */
    private static boolean isIdleSchedule(RunInfo run) {
        return run.definition().startsWith("perdure.schedule")
                && run.state() == RunState.SUSPENDED
                && run.wakeAt().isEmpty();
    }

    /**
     * A process that lost runs to a sweep and lives joins again, and says so: otherwise its runs count as recovered.
     */
    private void awaitReturn(Records records) {
        long end = world.nanoTime() + MOST_TIME.toNanos();
        while (records.missing().stream().anyMatch(world::lives)) {
            if (world.nanoTime() > end) {
                throw new AssertionError("Runs were taken from %s, whose process lives and did not join again."
                        .formatted(
                                records.missing().stream().filter(world::lives).toList()));
            }
            world.idle(Duration.ofMillis(500));
        }
    }

    void check() {
        if (world.store() instanceof Records records) {
            awaitReturn(records);
            for (RunId run : records.started()) {
                if (world.store().runs().find(run).isEmpty()) {
                    throw new AssertionError("The start of " + run + " was acknowledged, and it is not there.");
                }
            }
            List<String> findings = records.findings();
            if (!findings.isEmpty()) {
                throw new AssertionError(String.join("\n", findings));
            }
        }
    }
}
