package dev.perdure;

import org.jspecify.annotations.Nullable;

/**
 * A future that code outside the workflow settles by its token, with {@link Perdure#resolve(String, Object)} or
 * {@link Perdure#reject(String, String)}. Pass the token to the outside in a step.
 *
 * @param <T> what it is resolved with
 */
public interface Awakeable<T extends @Nullable Object> extends DurableFuture<T> {
    /**
     * The token: 192 bits that cannot be guessed, the same on every replay, valid for one answer in this life of the
     * run. Anyone who has the token can answer, so keep it secret. The store does not hold the token itself, but it
     * does hold what a step returns and what a run publishes. So pass the token on inside a step, and do not return it
     * from the step.
     */
    String token();
}
