package dev.perdure;

import dev.perdure.reaction.Reaction;

/**
 * Receives every change of a run's state that this process commits. The engine calls it after the commit, at most once
 * per change, with the reason of that change. It does not call it for a command that came too late to change anything,
 * nor for what other processes do; a {@link Reaction} starts a workflow for every failed or paused run. The call runs on
 * an engine thread, so return quickly. The engine logs and ignores exceptions from it.
 */
@FunctionalInterface
public interface RunListener {
    /** A run has changed its state. */
    void changed(RunChange change);
}
