package dev.perdure.simulation.scene;

/**
 * A part of a workload: workflows, callers that use them, and what must hold when all has ended. Made anew for each
 * history.
 */
public interface Scene {
    /** Registers its workflows. */
    void register();

    /** Does what callers do, beside the other scenes. Starts runs and does not wait for their ends. */
    void play();

    /** Checks what must hold now that every run has ended. Throws an {@link AssertionError} if it does not. */
    void check();
}
