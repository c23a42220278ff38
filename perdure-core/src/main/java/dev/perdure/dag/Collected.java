package dev.perdure.dag;

import org.jspecify.annotations.Nullable;

/**
 * The outcome of one item of a {@link NewCollectingForEach}.
 *
 * @param value what the code returned, or null if it failed
 * @param error why it failed, or null
 * @param <T> what the code returns
 */
public record Collected<T extends @Nullable Object>(
        @Nullable T value, @Nullable String error) {
    /** Whether the item has succeeded. */
    public boolean succeeded() {
        return error == null;
    }
}
