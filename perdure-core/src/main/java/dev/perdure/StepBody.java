package dev.perdure;

import java.io.Serializable;
import org.jspecify.annotations.Nullable;

/**
 * The body of a step: one effect on the outside world, and its result. It runs at least once. After the engine has
 * recorded the result, it never runs again. The type is {@link Serializable} only so that the engine can read the
 * lambda's result type; the engine never serialises it.
 *
 * @param <T> the result
 */
@FunctionalInterface
public interface StepBody<T extends @Nullable Object> extends Serializable {
    /** Does the work. */
    T call() throws Exception;
}
