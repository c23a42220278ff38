package dev.perdure.object;

/** Changes that an operator makes to the state of a virtual object, in order, in one transaction. */
public interface StateEdit {
    /** Sets a value. */
    <T> StateEdit set(StateKey<T> key, T value);

    /** Removes a value. */
    StateEdit clear(StateKey<?> key);

    /** Removes all values. */
    StateEdit clearAll();
}
