package dev.perdure.spi.measure;

import dev.perdure.Perdure;
import dev.perdure.RunChange;
import dev.perdure.RunState;
import java.time.Duration;

/**
 * Gets what an engine measures about itself: for modules that offer it as metrics. The engine calls it often, on its own
 * threads and on those of callers, several at once. So a method only adds to a counter: it does not block and does not
 * throw.
 */
public interface Measurements {
    /** Measures nothing. */
    Measurements NONE = new Measurements() {};

    /** The engine works. It can be asked for more until {@link #closed}. */
    default void opened(Perdure perdure) {}

    /** The engine is closed. */
    default void closed(Perdure perdure) {}

    /** This process has committed a change of a run's state, or the worker has entered its code. */
    default void changed(RunChange change) {}

    /** A run begins: the worker enters its code for the first time. */
    default void began(String definition, String queue) {}

    /**
     * The worker has ended a run. Not called for runs that end while no worker has them in memory, and for calls of a busy
     * virtual object that the worker executed before the store knew them.
     *
     * @param state how it ended
     * @param nanos how long ago the run was started, with its waits
     */
    default void ran(String definition, RunState state, long nanos) {}

    /** The worker has a run in memory. */
    default void loaded() {}

    /** A run has left the memory of the worker. */
    default void unloaded() {}

    /**
     * An attempt of a step has ended. One that the engine interrupted because its run ends or leaves memory does not
     * count.
     *
     * @param succeeded whether its body returned a result that can be stored
     * @param nanos how long it took
     */
    default void attempted(String definition, String queue, boolean succeeded, long nanos) {}

    /** A batch is on its way to the store; it uses a lane until {@link #committed}. */
    default void committing() {}

    /**
     * The store has answered a batch, or has failed to.
     *
     * @param changes how many changes it has
     * @param nanos how long that took
     */
    default void committed(int changes, long nanos) {}

    /**
     * The worker has asked the store for runs.
     *
     * @param runs how many it got
     * @param nanos how long that took
     */
    default void polled(int runs, long nanos) {}

    /** The worker has asked the store for runs so long after the time at which a waiting run was due. */
    default void woke(Duration late) {}

    /** The worker has joined the store, or has renewed its lease. */
    default void renewed() {}

    /** The worker has taken over runs of dead workers. */
    default void recovered(int runs) {}

    /** The worker has removed runs whose retention is over. */
    default void removed(int runs) {}
}
