package dev.perdure.dag;

import org.jspecify.annotations.Nullable;

/**
 * A task of a {@link Dag}, and the key to its output.
 *
 * @param <T> what it gives
 */
public sealed interface DagTask<T extends @Nullable Object> permits NewTask {
    /** Its name, unique in its graph. */
    String name();
}
