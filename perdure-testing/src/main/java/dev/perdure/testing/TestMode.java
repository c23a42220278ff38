package dev.perdure.testing;

/** Ways to run the same test. What passes in one and not in another has a bug: in the test's workflow, or in the engine. */
public enum TestMode {
    /** As in production. */
    NORMAL,
    /** Every wait leaves memory, however short. */
    SUSPEND_AT_EVERY_WAIT,
    /** After every step the run leaves memory and is replayed: code that is not deterministic is found out. */
    REPLAY_AFTER_EVERY_STEP,
    /** Three workers share the store. */
    THREE_WORKERS,
    /** No hints: everything is found by polling. */
    WITHOUT_HINTS
}
