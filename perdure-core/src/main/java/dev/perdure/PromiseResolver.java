package dev.perdure;

import dev.perdure.error.RejectedException;
import org.jspecify.annotations.Nullable;

/**
 * Settles a promise of a run, once. Where it comes from says when the answer goes out and what happens to a second
 * answer: {@link Run#promise}, {@link WorkflowContext#promise(RunId, Topic)}, {@link Outbox#promise}.
 *
 * @param <T> what the promise is resolved with
 */
public interface PromiseResolver<T extends @Nullable Object> {
    /** Resolves the promise with this value. */
    void resolve(T value);

    /** Rejects the promise: a run that awaits it gets {@link RejectedException} with this reason. */
    void reject(String reason);
}
