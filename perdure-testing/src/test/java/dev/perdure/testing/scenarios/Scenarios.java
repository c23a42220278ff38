package dev.perdure.testing.scenarios;

import dev.perdure.Definition;
import dev.perdure.RunChange;
import dev.perdure.RunState;
import dev.perdure.WorkflowBody;
import dev.perdure.testing.PerdureTest;
import dev.perdure.testing.TestMode;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * What an engine has to do, whatever store is under it and in whatever mode it runs. A group of scenarios is an abstract
 * class; a store's tests extend it and say where the runs live.
 */
abstract class Scenarios {
    /** An engine on the store under test. */
    protected abstract PerdureTest create(TestMode mode);

    static Definition<String, String> workflow(String name, WorkflowBody<String, String> body) {
        return Definition.of(name, String.class, String.class, body);
    }

    /** The states that the listener was told of for one run, in order. */
    static List<RunState> statesOf(PerdureTest perdure, String run) {
        return perdure.changes().stream()
                .filter(change -> change.runId().value().equals(run))
                .map(RunChange::state)
                .toList();
    }

    /** Lets a test meet a body where it is, in real time, and never for ever. */
    static void await(CountDownLatch latch) throws InterruptedException {
        if (!latch.await(20, TimeUnit.SECONDS)) {
            throw new AssertionError("waited for a latch in vain");
        }
    }

    /** Lets a test wait for what a worker does beside a blocked body, in real time, and never for ever. */
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
