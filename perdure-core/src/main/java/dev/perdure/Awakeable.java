package dev.perdure;

import org.jspecify.annotations.Nullable;

/**
 * A future that somebody outside settles, knowing nothing but its token: {@link Perdure#resolve(String, Object)} and
 * {@link Perdure#reject(String, String)}. Hand the token over in a step.
 *
 * @param <T> what it is resolved with
 */
public interface Awakeable<T extends @Nullable Object> extends DurableFuture<T> {
    /** The token: random, the same on every replay, good for one answer. Whoever has it can answer, so keep it secret. */
    String token();
}
