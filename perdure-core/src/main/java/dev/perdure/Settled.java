package dev.perdure;

import org.jspecify.annotations.Nullable;

/**
 * The outcome of a future: a value or a failure.
 *
 * @param value its value, if it did not fail
 * @param failure its failure, or null
 * @param <T> the type of its value
 */
public record Settled<T extends @Nullable Object>(
        @Nullable T value, @Nullable RuntimeException failure) {
    /** Whether it has a value and no failure. */
    public boolean succeeded() {
        return failure == null;
    }
}
