package dev.perdure.internal.execution.transition;

import dev.perdure.spi.change.Effect;
import java.util.List;

/** The work of a run beside its own thread: bodies of asynchronous steps, and children. */
public interface SideThreads {
    SideThreads NONE = new SideThreads() {
        @Override
        public boolean atWork() {
            return false;
        }

        @Override
        public void handIn() {}

        @Override
        public void beginMore() {}

        @Override
        public void askForPermits() {}

        @Override
        public void giveUp(RuntimeException why) {}

        @Override
        public List<Effect> cancels(String reason) {
            return List.of();
        }

        @Override
        public void awaitCancelled() {}
    };

    /** Whether a body runs. Then the run does not leave memory by itself. */
    boolean atWork();

    /** Writes the results of bodies that have finished with the next transition. */
    void handIn();

    /** Starts bodies that had no room. Called when everything so far is durable. */
    void beginMore();

    /**
     * Asks again for the permits of steps that wait for one: the run was woken because it may be the turn of any of
     * them.
     */
    void askForPermits();

    /**
     * Interrupts bodies, waits for their end, and writes the failure of those steps that did not succeed with the next
     * transition: a replay must not begin them again.
     */
    void giveUp(RuntimeException why);

    /** What a cancel of this run does to its children. */
    List<Effect> cancels(String reason);

    /** Waits for the children for whose end the cancel has to wait. */
    void awaitCancelled();
}
