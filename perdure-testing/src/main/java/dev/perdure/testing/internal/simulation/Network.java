package dev.perdure.testing.internal.simulation;

import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.WorkerId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What all processes of a history share besides the store: how often each lane was used. A copy of a batch that arrives
 * after its lane was used again has no effect, as with a store that replaces the lane. It also records which faults hit
 * which commits.
 */
final class Network {
    private final Map<Object, Long> uses = new HashMap<>();
    private final List<World.Hit> hits = new ArrayList<>();

    /** A fault has hit a commit. */
    void hit(Fault fault, List<Change> changes) {
        if (!changes.isEmpty()) {
            hits.add(new World.Hit(fault, changes));
        }
    }

    List<World.Hit> hits() {
        return List.copyOf(hits);
    }

    /** The next use of a lane. */
    long use(Lane lane) {
        return uses.merge(lane, 1L, Long::sum);
    }

    /** The next poll of a worker. */
    long poll(WorkerId worker) {
        return uses.merge(worker, 1L, Long::sum);
    }

    /** Whether nothing has been sent on the lane since. */
    boolean isLast(Object sender, long use) {
        return uses.getOrDefault(sender, 0L) == use;
    }
}
