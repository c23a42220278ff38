package dev.perdure;

import org.jspecify.annotations.Nullable;

/**
 * A future that somebody outside settles, knowing nothing but its token: {@link Perdure#resolve(String, Object)} and
 * {@link Perdure#reject(String, String)}. Hand the token over in a step.
 *
 * @param <T> what it is resolved with
 */
public interface Awakeable<T extends @Nullable Object> extends DurableFuture<T> {
    /**
     * The token: 192 bits that nobody can guess, the same on every replay, good for one answer in this life of the run. Whoever
     * has it can answer, so keep it secret. The store does not have it; what a step returns or a run publishes it does have, so
     * hand the token over and do not return it.
     */
    String token();
}
