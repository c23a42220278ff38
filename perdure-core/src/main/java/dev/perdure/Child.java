package dev.perdure;

import dev.perdure.error.RunConflictException;
import dev.perdure.error.RunFailedException;
import org.jspecify.annotations.Nullable;

/**
 * A run that a workflow has started. {@link #await()} returns its result. It throws {@link RunFailedException}, with
 * the child's own failure as the cause, if the child fails, and {@link RunConflictException} if another run has the id
 * that the workflow chose for it.
 *
 * @param <T> what the child returns
 */
public interface Child<T extends @Nullable Object> extends DurableFuture<T> {
    /** The child's id. */
    RunId id();
}
