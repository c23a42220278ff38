package dev.perdure.internal.object;

import dev.perdure.internal.object.LocalCaller.Reply;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Callers that wait for a {@link CallPipeline} to execute their calls, which the store does not know. Guarded by its
 * lock.
 */
final class LocalCallers {
    /** How many batches of other calls may go before a caller starts its call itself. */
    private static final int MAX_PASSED_OVER = 8;

    private final Deque<LocalCaller> waiting = new ArrayDeque<>();
    /** Callers whose calls were in the pipeline and were discarded, in their order. */
    private final List<LocalCaller> dropped = new ArrayList<>();

    void add(LocalCaller caller) {
        waiting.addLast(caller);
    }

    /** The caller whose call is next, or null. */
    @Nullable
    LocalCaller next() {
        waiting.removeIf(LocalCaller::isSettled);
        return waiting.pollFirst();
    }

    void drop(LocalCaller caller) {
        dropped.add(caller);
    }

    /**
     * Other calls went first. Callers whose calls were discarded wait at the front again. Callers that were passed over
     * too often start their calls themselves.
     */
    void passedOver() {
        requeueDropped();
        waiting.removeIf(caller -> {
            boolean givesUp = caller.passedOver() > MAX_PASSED_OVER;
            if (givesUp) {
                caller.settle(new Reply.NotStored());
            }
            return givesUp;
        });
    }

    private void requeueDropped() {
        dropped.reversed().forEach(waiting::addFirst);
        dropped.clear();
    }

    /** Lets one caller start its call while the others wait. Returns whether there was one. */
    boolean letOneStart(CallPipeline pipeline) {
        requeueDropped();
        while (!waiting.isEmpty()) {
            if (waiting.removeFirst().settle(new Reply.StartFirst(pipeline))) {
                return true;
            }
        }
        return false;
    }

    /** The pipeline takes no more calls: all callers start their calls themselves. */
    void close() {
        requeueDropped();
        waiting.forEach(caller -> caller.settle(new Reply.NotStored()));
        waiting.clear();
    }
}
