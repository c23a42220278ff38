package dev.perdure;

import java.io.Serializable;
import org.jspecify.annotations.Nullable;

/**
 * What a step does: one effect on the outside world, with its result. It runs at least once, and never again once its
 * result is recorded. {@link Serializable} only lets Java say the lambda's result type; it is never serialised.
 *
 * @param <T> the result
 */
@FunctionalInterface
public interface StepBody<T extends @Nullable Object> extends Serializable {
    /** Does the work. */
    T call() throws Exception;
}
