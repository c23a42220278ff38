package dev.perdure;

/**
 * Receives every change of a run's state that this process commits: the place to raise an alert about a paused or
 * failed run. The engine calls it after the commit, at most once per change, with the reason of that change. It does
 * not call it for a command that came too late to change anything. The call runs on an engine thread, so return
 * quickly. The engine logs and ignores exceptions from it.
 */
@FunctionalInterface
public interface RunListener {
    /** A run has changed its state. */
    void changed(RunChange change);
}
