package dev.perdure.queue;

import dev.perdure.error.UnknownLimiterException;
import java.util.List;

/**
 * What operators see of limiters of steps, and change. A change holds in all processes at once, and survives a
 * deployment until it is reset. Thread-safe.
 *
 * <pre>{@code
 * perdure.limiters().pause("stripe", "the payment provider is down");
 * perdure.limiters().limit(Limiter.named("stripe").concurrency(5));
 * }</pre>
 */
public interface Limiters {
    /** The limiters that were declared, or that a step has named, by name. */
    List<LimiterInfo> list();

    /**
     * One limiter.
     *
     * @throws UnknownLimiterException if it is not declared
     */
    LimiterInfo get(String limiter);

    /** Declares a limiter, as an engine does when it starts. What operators have changed stays. */
    void declare(Limiter limiter);

    /**
     * Changes the settings that this value has; the others stay as they are. A lower limit interrupts no step: fewer
     * begin until the count is below it.
     *
     * @throws UnknownLimiterException if the limiter is not declared
     */
    void limit(Limiter changes);

    /**
     * Gives no step a permit until {@link #resume}. Steps that have a permit go on.
     *
     * @throws UnknownLimiterException if the limiter is not declared
     */
    void pause(String limiter, String reason);

    /**
     * Gives steps permits again.
     *
     * @throws UnknownLimiterException if the limiter is not declared
     */
    void resume(String limiter);

    /**
     * Forgets what operators have changed, so that the limits are those that the code declares. A paused limiter stays
     * paused.
     *
     * @throws UnknownLimiterException if the limiter is not declared
     */
    void reset(String limiter);
}
