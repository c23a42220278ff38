package dev.perdure.dag;

import org.jspecify.annotations.Nullable;

/**
 * A task of a {@link Dag}: other tasks can come after it, and it is the key to its output.
 *
 * @param <T> its output
 */
public sealed interface DagTask<T extends @Nullable Object> permits TaskOptions {
    /** Its name, unique in its DAG. */
    String name();
}
