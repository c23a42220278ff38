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
    /** Runs the workflow. The engine calls it again, from the top, to replay a run. */
    R run(WorkflowContext ctx, I input) throws Exception;
}
