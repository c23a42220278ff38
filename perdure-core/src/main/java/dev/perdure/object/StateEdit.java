package dev.perdure.object;

/** Changes to the state of a virtual object that an operator makes in one piece, in order. */
public interface StateEdit {
    /** Sets a value. */
    <T> StateEdit set(StateKey<T> key, T value);

    /** Removes a value. */
    StateEdit clear(StateKey<?> key);

    /** Removes all values. */
    StateEdit clearAll();
}
