package dev.perdure.object;

/**
 * The context of an exclusive handler of a {@link VirtualObject}. It adds to the context of a workflow the object's
 * state, for reading and writing. No other call changes the state until the handler has ended.
 *
 * <p>The engine commits the changes together with what the run records next, in one transaction. A handler that only
 * reads and changes the state costs one commit. If the handler fails, the changes that it made before stay.
 */
public interface ObjectContext extends SharedObjectContext {
    /** Sets a value of the state. */
    <T> void set(StateKey<T> key, T value);

    /** Removes a value of the state. */
    void clear(StateKey<?> key);

    /** Removes all values of the state. */
    void clearAll();
}
