package dev.perdure.testing.scenarios;

import dev.perdure.Definition;
import dev.perdure.RunChange;
import dev.perdure.RunState;
import dev.perdure.WorkflowBody;
import dev.perdure.testing.PerdureTest;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Scenarios that every engine must pass, on every store and in every test mode. A group of scenarios is an abstract
 * class. The tests of a store extend it and implement {@link Kit} for
 * the store.
 */
abstract class Scenarios implements Kit {
    static Definition<String, String> workflow(String name, WorkflowBody<String, String> body) {
        return Definition.of(name, String.class, String.class, body);
    }

    /** The states of one run that the engine reported to the listener, in order. */
    static List<RunState> statesOf(PerdureTest perdure, String run) {
        return perdure.changes().stream()
                .filter(change -> change.runId().value().equals(run))
                .map(RunChange::state)
                .toList();
    }

    /** Waits in real time, with a limit, until a step body reaches a point. */
    static void await(CountDownLatch latch) throws InterruptedException {
        if (!latch.await(20, TimeUnit.SECONDS)) {
            throw new AssertionError("waited for a latch in vain");
        }
    }

    /** Waits in real time, with a limit, for something that a worker does while a step body blocks. */
    static void until(BooleanSupplier condition) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - end > 0) {
                throw new AssertionError("waited for a condition in vain");
            }
            Thread.onSpinWait();
        }
    }
}
