package dev.perdure.internal.execution.host;

import dev.perdure.spi.Outcome;
import dev.perdure.spi.change.Change;
import dev.perdure.spi.change.Control;
import java.util.Optional;

/**
 * When an execution may write, and how it ends. Nearly all begin when they hold their run. A call of a virtual object may run
 * ahead of its turn, from what the call before it has left in memory: it touches the state and nothing else, and writes nothing
 * but its end.
 */
public interface Turn {
    /** Whether the run is not held yet. */
    boolean isAhead();

    /** Whether the run is a call in a pipeline. Then {@link #await} is called before it first does more than touch the state. */
    boolean isPipelined();

    /** Whether the run is begun again because this execution ran ahead in vain: it writes nothing any more. */
    boolean isDropped();

    /** Tells listeners that the run is carried on here, unless that was told before. */
    void tellBegun();

    /** Waits until the run is held. Gives what is asked of it then, or nothing if it will not be held by this execution. */
    Optional<Control> await();

    /**
     * Applies the transition that ends the run, and returns when it is durable. Runs that it hands over to
     * this worker are launched.
     *
     * @param known what the run knows of the virtual object that it holds, if it does
     */
    Outcome end(Change.Advance transition, Optional<KnownState> known);

    /** The execution has left memory, in whatever way. */
    void left();
}
