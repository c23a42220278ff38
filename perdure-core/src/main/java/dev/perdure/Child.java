package dev.perdure;

import dev.perdure.error.RunConflictException;
import dev.perdure.error.RunFailedException;
import org.jspecify.annotations.Nullable;

/**
 * A run that a workflow has started. Waiting for it gives its result, or {@link RunFailedException} with the child's own
 * failure as cause; {@link RunConflictException} if the id that was chosen for it is taken.
 *
 * @param <T> what the child returns
 */
public interface Child<T extends @Nullable Object> extends DurableFuture<T> {
    /** The child's id. */
    RunId id();
}
