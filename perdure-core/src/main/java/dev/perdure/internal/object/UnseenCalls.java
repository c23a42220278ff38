package dev.perdure.internal.object;

import dev.perdure.RunId;
import dev.perdure.spi.Clockwork;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Calls that this process starts at a virtual object while a {@link CallPipeline} of it is at work here, and that the train has not met
 * yet. Calls that ran ahead before anybody was told of these may go first. Guarded by the lock of the train.
 */
final class UnseenCalls {
    /** Whose start is on its way. */
    private final Set<RunId> starting = new HashSet<>();
    /** Whose start waits for a batch that is on its way. */
    private final List<Clockwork.Signal> heldUp = new ArrayList<>();
    /** Who waits in the store. */
    private final Set<RunId> waiting = new HashSet<>();

    /**
     * One is about to be started.
     *
     * @param waits what is raised when a batch has come back that must not find it in the store; null if there is none
     * @return whether there is
     */
    boolean starts(RunId call, Clockwork.@Nullable Signal waits) {
        starting.add(call);
        return waits != null && heldUp.add(waits);
    }

    boolean isHeldUp(Clockwork.Signal waits) {
        return heldUp.contains(waits);
    }

    /** The batch on its way is back. */
    void letIn() {
        List<Clockwork.Signal> let = List.copyOf(heldUp);
        heldUp.clear();
        let.forEach(Clockwork.Signal::raise);
    }

    /** Its caller is about to hear of it; it waits for its turn, or does not. */
    void started(RunId call, boolean waits) {
        starting.remove(call);
        if (waits) {
            waiting.add(call);
        }
    }

    /** The train carries it from now on, or it does not wait any more. */
    void met(RunId call) {
        waiting.remove(call);
    }

    /** Whether callers were told of some: then nobody boards before these. */
    boolean areWaiting() {
        return !waiting.isEmpty();
    }

    Set<RunId> waiting() {
        return Set.copyOf(waiting);
    }

    Set<RunId> all() {
        Set<RunId> all = new HashSet<>(starting);
        all.addAll(waiting);
        return all;
    }
}
