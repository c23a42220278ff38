package dev.perdure.object;

import java.util.Optional;
import java.util.SortedSet;

/** What a virtual object knows, read from outside: each question asks the store for what is committed now. */
public interface ObjectState {
    /** A value; empty if it was never set or was cleared. */
    <T> Optional<T> get(StateKey<T> key);

    /** The names of all values. */
    SortedSet<String> keys();
}
