package dev.perdure;

import org.jspecify.annotations.Nullable;

/**
 * The function of a {@link Definition}.
 *
 * @param <I> its input
 * @param <R> its result
 */
@FunctionalInterface
public interface WorkflowBody<I extends @Nullable Object, R extends @Nullable Object> {
    /** Runs, or runs again from the top after a pause. */
    R run(WorkflowContext ctx, I input) throws Exception;
}
