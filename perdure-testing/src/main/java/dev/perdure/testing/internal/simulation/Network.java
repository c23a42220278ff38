package dev.perdure.testing.internal.simulation;

import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.WorkerId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What all processes of a history share besides the store: how often each lane was used. A copy of a batch that arrives
 * after its lane was used again has no effect, as with a store that replaces the lane. Starts and mails of clients have
 * no lane: the store recognises their copies, however late. It also records which faults hit which commits.
 */
final class Network {
    private final Map<Object, Long> uses = new HashMap<>();
    private final List<World.Hit> hits = new ArrayList<>();
    private final Map<WorkerId, SimulatedProcess> workers = new LinkedHashMap<>();

    private int lateCalls;

    /** A call is on its way for long. */
    void delayed() {
        lateCalls++;
    }

    /** It has arrived. */
    void arrived() {
        lateCalls--;
    }

    int lateCalls() {
        return lateCalls;
    }

    /** The sender of commands of a client: each process has one lane for them. */
    private record Commands(String process) {}

    /** A process joins as this worker. */
    void joins(WorkerId worker, SimulatedProcess process) {
        workers.put(worker, process);
    }

    /** As what the process has joined, in order. */
    List<WorkerId> workersOf(SimulatedProcess process) {
        return workers.keySet().stream()
                .filter(worker -> workers.get(worker) == process)
                .toList();
    }

    Optional<SimulatedProcess> processOf(WorkerId worker) {
        return Optional.ofNullable(workers.get(worker));
    }

    /** A fault has hit a commit. */
    void hit(Fault fault, List<Change> changes) {
        if (!changes.isEmpty()) {
            hits.add(new World.Hit(fault, changes));
        }
    }

    List<World.Hit> hits() {
        return List.copyOf(hits);
    }

    /** The lane of a batch; null if a copy of it takes effect however late it comes. */
    static @Nullable Object sender(SimulatedProcess process, Lane lane, List<Change> changes) {
        if (lane.worker() != null) {
            return lane;
        }
        boolean commands =
                changes.stream().anyMatch(change -> change instanceof Change.Command || change instanceof Change.Rerun);
        return commands ? new Commands(process.name()) : null;
    }

    /** The next use of a lane. */
    long use(@Nullable Object sender) {
        return sender == null ? 0 : uses.merge(sender, 1L, Long::sum);
    }

    /** Whether nothing has been sent on the lane since. */
    boolean isLast(@Nullable Object sender, long use) {
        return sender == null || uses.getOrDefault(sender, 0L) == use;
    }
}
