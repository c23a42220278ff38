package dev.perdure;

import dev.perdure.error.AlreadyResolvedException;
import dev.perdure.error.RejectedException;
import dev.perdure.error.ResultUnavailableException;
import dev.perdure.error.RunEndedException;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A named promise of one run, seen from outside. It is settled once, from anywhere, before or while the run waits for it.
 *
 * @param <T> what it is resolved with
 */
public interface Promise<T extends @Nullable Object> {
    /**
     * Gives it its value, durably.
     *
     * @throws AlreadyResolvedException if it is settled already
     * @throws RunEndedException if the run has ended
     */
    void resolve(T value);

    /**
     * Settles it with a failure: whoever waits for it gets {@link RejectedException}.
     *
     * @throws AlreadyResolvedException if it is settled already
     * @throws RunEndedException if the run has ended
     */
    void reject(String reason);

    /**
     * Its value if it is resolved, without waiting. Empty also for one that was resolved with {@code null}.
     *
     * @throws RejectedException if it was rejected
     */
    Optional<T> peek();

    /**
     * Waits for it.
     *
     * @throws RejectedException if it was rejected
     * @throws ResultUnavailableException if it is not settled in time
     */
    T await(Duration timeout);
}
