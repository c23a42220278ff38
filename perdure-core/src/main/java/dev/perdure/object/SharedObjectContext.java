package dev.perdure.object;

import dev.perdure.RunId;
import dev.perdure.WorkflowContext;
import java.util.Optional;
import java.util.SortedSet;

/**
 * The context of a shared handler of a {@link VirtualObject}. It adds to the context of a workflow the object's state,
 * for reading. A read returns what the exclusive calls have committed by then. The engine records it, so every replay
 * returns the same value.
 */
public interface SharedObjectContext extends WorkflowContext {
    /** The key of the object. */
    String key();

    /** One value of the state. Empty if no handler has set it, or if one has cleared it. */
    <T> Optional<T> get(StateKey<T> key);

    /** The names of all values that are set. */
    SortedSet<String> keys();

    /**
     * The id of the run of the handler that runs {@link Handler#once() once} on this key, even if nothing has called it
     * yet.
     */
    RunId main();
}
