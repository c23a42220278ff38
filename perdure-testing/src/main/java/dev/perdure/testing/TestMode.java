package dev.perdure.testing;

/**
 * The ways to run a test. A test that passes in one mode and fails in another shows a bug in the workflow or in the
 * engine.
 */
public enum TestMode {
    /** Runs as in production. */
    NORMAL,
    /** Makes a run leave memory at every wait, however short. */
    SUSPEND_AT_EVERY_WAIT,
    /** Makes a run leave memory and replay after every step, which finds code that is not deterministic. */
    REPLAY_AFTER_EVERY_STEP,
    /** Runs three workers on the store. */
    THREE_WORKERS,
    /** Sends no hints, so that workers find everything by polling. */
    WITHOUT_HINTS
}
