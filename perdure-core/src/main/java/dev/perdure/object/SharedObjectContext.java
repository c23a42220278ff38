package dev.perdure.object;

import dev.perdure.RunId;
import dev.perdure.WorkflowContext;
import java.util.Optional;
import java.util.SortedSet;

/**
 * What a shared handler of a {@link VirtualObject} can do: all that a workflow can, and read the state. Each read gives what
 * the exclusive calls have committed by then, is recorded, and is the same on every replay.
 */
public interface SharedObjectContext extends WorkflowContext {
    /** Which thing this is. */
    String key();

    /** A value of the state; empty if it was never set or was cleared. */
    <T> Optional<T> get(StateKey<T> key);

    /** The names of all values of the state. */
    SortedSet<String> keys();

    /** The run of the handler that runs {@link Handler#once() once} on this key, whether it has been called yet or not. */
    RunId main();
}
