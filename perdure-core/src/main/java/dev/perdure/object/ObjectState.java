package dev.perdure.object;

import java.util.Optional;
import java.util.SortedSet;

/**
 * The state of a virtual object, for code outside of workflows. Each method reads what is committed now from the store.
 */
public interface ObjectState {
    /** One value. Empty if no handler has set it, or if one has cleared it. */
    <T> Optional<T> get(StateKey<T> key);

    /** The names of all values that are set. */
    SortedSet<String> keys();
}
