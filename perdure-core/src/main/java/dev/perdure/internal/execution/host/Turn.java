package dev.perdure.internal.execution.host;

import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Control;
import java.util.Optional;

/**
 * When an execution may write, and how it ends. Nearly all executions begin when the worker holds their run. A call of
 * a virtual object may run ahead of its turn, from the state that the call before it left in memory. Then it only reads
 * and writes that state, and writes only its end to the store.
 */
public interface Turn {
    /** Whether the worker does not hold the run yet. */
    boolean isAhead();

    /**
     * Whether the run is a call in a pipeline. If so, it calls {@link #await} before it first does more than read and
     * write the state.
     */
    boolean isPipelined();

    /**
     * Whether another execution replaces this one, because this one ran ahead in vain. If so, it writes nothing more.
     */
    boolean isDropped();

    /** Tells listeners that the run runs here, unless they know already. */
    void tellBegun();

    /**
     * Waits until the worker holds the run. Returns the requests for the run then, or nothing if this execution will
     * not get the run.
     */
    Optional<Control> await();

    /**
     * Applies the transition that ends the run, and returns when it is durable. Launches the runs that it hands over to
     * this worker.
     *
     * @param known the state of the virtual object that the run holds, if it is known
     */
    Outcome end(Change.Advance transition, Optional<KnownState> known);

    /** The execution has left memory, for any reason. */
    void left();
}
