package dev.perdure.testing.internal.simulation;

import dev.perdure.spi.change.Lane;
import dev.perdure.spi.change.WorkerId;
import java.util.HashMap;
import java.util.Map;

/**
 * What all processes of a history share besides the store: how often each lane was used. A copy of a batch that arrives after its
 * lane was used again has no effect, as with a store that replaces the lane.
 */
final class Network {
    private final Map<Object, Long> uses = new HashMap<>();

    /** The next use of a lane. */
    long use(Lane lane) {
        return uses.merge(lane, 1L, Long::sum);
    }

    /** The next poll of a worker. */
    long poll(WorkerId worker) {
        return uses.merge(worker, 1L, Long::sum);
    }

    /** Whether nothing was sent on it since. */
    boolean isLast(Object sender, long use) {
        return uses.getOrDefault(sender, 0L) == use;
    }
}
