package dev.perdure.internal.object;

import dev.perdure.internal.object.LocalCaller.Ride;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Those who wait for a {@link CallPipeline} to carry their calls, which the store does not know. Guarded by the lock of the train. */
final class LocalCallers {
    /** How many batches of others a passenger lets go first. */
    private static final int PATIENCE = 8;

    private final Deque<LocalCaller> waiting = new ArrayDeque<>();
    /** Those who had boarded and whose cars were dropped, in their order. */
    private final List<LocalCaller> dropped = new ArrayList<>();

    void add(LocalCaller passenger) {
        waiting.addLast(passenger);
    }

    /** Who boards next, or null. */
    @Nullable
    LocalCaller next() {
        waiting.removeIf(LocalCaller::isGone);
        return waiting.pollFirst();
    }

    void drop(LocalCaller passenger) {
        dropped.add(passenger);
    }

    /** Others went first. Those who had boarded before stand at the front again; who has waited long enough goes his own way. */
    void overtaken() {
        comeBack();
        waiting.removeIf(passenger -> {
            boolean leaves = passenger.overtaken() > PATIENCE;
            if (leaves) {
                passenger.settle(new Ride.LeftBehind());
            }
            return leaves;
        });
    }

    private void comeBack() {
        dropped.reversed().forEach(waiting::addFirst);
        dropped.clear();
    }

    /** Lets somebody start his call while the others wait for him; says whether there was anybody. */
    boolean sendFirst(CallPipeline train) {
        comeBack();
        while (!waiting.isEmpty()) {
            if (waiting.removeFirst().settle(new Ride.GoesFirst(train))) {
                return true;
            }
        }
        return false;
    }

    /** Nobody is carried any more. */
    void close() {
        comeBack();
        waiting.forEach(passenger -> passenger.settle(new Ride.LeftBehind()));
        waiting.clear();
    }
}
