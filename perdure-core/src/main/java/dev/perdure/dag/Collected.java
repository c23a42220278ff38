package dev.perdure.dag;

import org.jspecify.annotations.Nullable;

/**
 * What came of one item of a {@link NewMap} that collects.
 *
 * @param value what it gave, or null if it failed
 * @param error why it failed, or null
 * @param <T> what it gives
 */
public record Collected<T extends @Nullable Object>(
        @Nullable T value, @Nullable String error) {
    /** Whether it gave a value. */
    public boolean succeeded() {
        return error == null;
    }
}
