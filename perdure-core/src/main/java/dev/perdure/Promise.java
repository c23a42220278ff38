package dev.perdure;

import dev.perdure.error.AlreadyResolvedException;
import dev.perdure.error.RejectedException;
import dev.perdure.error.ResultUnavailableException;
import dev.perdure.error.RunEndedException;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A named promise of one run, for code outside the workflow. Any process can settle it, once, before the run waits for
 * it or while it waits.
 *
 * @param <T> the type of its value
 */
public interface Promise<T extends @Nullable Object> extends PromiseResolver<T> {
    /**
     * Resolves it with a value. The value is durable when this returns.
     *
     * @throws AlreadyResolvedException if it is settled already
     * @throws RunEndedException if the run has ended
     */
    @Override
    void resolve(T value);

    /**
     * Rejects it: everything that waits for it gets {@link RejectedException}.
     *
     * @throws AlreadyResolvedException if it is settled already
     * @throws RunEndedException if the run has ended
     */
    @Override
    void reject(String reason);

    /**
     * Its value if it is resolved, without waiting. Also empty if it was resolved with {@code null}.
     *
     * @throws RejectedException if it was rejected
     */
    Optional<T> peek();

    /**
     * Waits for its value.
     *
     * @throws RejectedException if it was rejected
     * @throws ResultUnavailableException if it is not settled in time
     */
    T await(Duration timeout);
}
