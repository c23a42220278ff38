package dev.perdure.object;

/**
 * What an exclusive handler of a {@link VirtualObject} can do: all that a workflow can, and read and change the state, which
 * nobody else changes until the handler has ended.
 *
 * <p>Changes go out with the run's next commit, in one piece with what the run records: a handler that only reads and
 * changes the state is one commit. What was changed before the handler fails stays changed.
 */
public interface ObjectContext extends SharedObjectContext {
    /** Sets a value of the state. */
    <T> void set(StateKey<T> key, T value);

    /** Removes a value of the state. */
    void clear(StateKey<?> key);

    /** Removes all values of the state. */
    void clearAll();
}
