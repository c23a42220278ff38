package dev.perdure;

import org.jspecify.annotations.Nullable;

/**
 * How a future settled.
 *
 * @param value what it gave, if it did not fail
 * @param failure what it failed with, or null
 * @param <T> what it gives
 */
public record Settled<T extends @Nullable Object>(
        @Nullable T value, @Nullable RuntimeException failure) {
    /** Whether it gave a value. */
    public boolean succeeded() {
        return failure == null;
    }
}
