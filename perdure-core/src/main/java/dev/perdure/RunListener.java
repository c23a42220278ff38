package dev.perdure;

/**
 * Told of every change of state that this process makes, after it is durable and at most once, with the reason of that change: the
 * place to page somebody about a paused or failed run. A command that comes too late to change anything is not told. Called on engine threads, so be quick; what it throws is logged and ignored.
 */
@FunctionalInterface
public interface RunListener {
    /** A run has changed its state. */
    void changed(RunChange change);
}
