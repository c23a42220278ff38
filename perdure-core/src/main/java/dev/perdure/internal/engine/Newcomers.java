package dev.perdure.internal.engine;

import dev.perdure.RunId;
import java.util.HashSet;
import java.util.Set;

/**
 * Calls that this process starts at a virtual object while a {@link Train} of it is at work here, and that the train has not met
 * yet. Calls that ran ahead before anybody was told of these may go first. Guarded by the lock of the train.
 */
final class Newcomers {
    /** Whose start is on its way. */
    private final Set<RunId> starting = new HashSet<>();
    /** Who waits in the store. */
    private final Set<RunId> waiting = new HashSet<>();

    void starts(RunId call) {
        starting.add(call);
    }

    /** Its caller is about to hear of it; it waits for its turn, or does not. */
    void started(RunId call, boolean waits) {
        starting.remove(call);
        if (waits) {
            waiting.add(call);
        }
    }

    void met(RunId call) {
        waiting.remove(call);
    }

    /** All that wait in the store are known. */
    void metAll() {
        waiting.clear();
    }

    Set<RunId> all() {
        Set<RunId> all = new HashSet<>(starting);
        all.addAll(waiting);
        return all;
    }
}
