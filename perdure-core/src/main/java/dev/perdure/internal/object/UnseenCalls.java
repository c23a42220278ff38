package dev.perdure.internal.object;

import dev.perdure.RunId;
import dev.perdure.spi.Clockwork;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Calls that this process starts outside the {@link CallPipeline} of their virtual object while the pipeline is at
 * work, and that are not in the pipeline yet. Calls that ran ahead before the callers of these calls got their answers
 * may go first. The pipeline's lock guards it.
 */
final class UnseenCalls {
    /** Calls whose start is on its way. */
    private final Set<RunId> starting = new HashSet<>();
    /** Signals of callers whose start waits for a batch that is on its way. */
    private final List<Clockwork.Signal> delayed = new ArrayList<>();
    /** Calls that wait in the store. */
    private final Set<RunId> waiting = new HashSet<>();

    /**
     * A call is about to be started.
     *
     * @param waits raised when the batch on its way has returned, because that batch must not find the call in the
     *     store; null if there is no batch
     * @return whether there is a batch on its way
     */
    boolean starts(RunId call, Clockwork.@Nullable Signal waits) {
        starting.add(call);
        return waits != null && delayed.add(waits);
    }

    boolean isDelayed(Clockwork.Signal waits) {
        return delayed.contains(waits);
    }

    /** The batch on its way has returned: starts that waited for it continue. */
    void admit() {
        List<Clockwork.Signal> let = List.copyOf(delayed);
        delayed.clear();
        let.forEach(Clockwork.Signal::raise);
    }

    /** The start has returned. The call waits for the object, or it does not. */
    void started(RunId call, boolean waits) {
        starting.remove(call);
        if (waits) {
            waiting.add(call);
        }
    }

    /** The call is in the pipeline now, or no longer waits. */
    void remove(RunId call) {
        waiting.remove(call);
    }

    /** Whether callers know that such calls wait. If so, no call that the store does not know goes before them. */
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
