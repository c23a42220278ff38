package dev.perdure;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.internal.text.Texts;
import dev.perdure.queue.Limiter;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * How the engine runs one step. Immutable. Import the factory methods statically:
 *
 * <pre>{@code
 * ctx.step("ship", () -> shipping.ship(order), retry(5).timeout(Duration.ofSeconds(10)));
 * ctx.step("charge", () -> stripe.charge(order), limit(STRIPE));
 * }</pre>
 */
public final class StepOptions {
    private static final Duration LONGEST_TIMEOUT = Duration.ofDays(36_500);
    private static final StepOptions DEFAULTS = new StepOptions(null, null, null, null);

    private final @Nullable RetryPolicy retry;
    private final @Nullable Duration timeout;
    private final @Nullable Duration heartbeatTimeout;
    private final @Nullable Limiter limiter;

    private StepOptions(
            @Nullable RetryPolicy retry,
            @Nullable Duration timeout,
            @Nullable Duration heartbeatTimeout,
            @Nullable Limiter limiter) {
        this.retry = retry;
        this.timeout = timeout;
        this.heartbeatTimeout = heartbeatTimeout;
        this.limiter = limiter;
    }

    /** The engine's retry policy and no timeout. */
    public static StepOptions defaults() {
        return DEFAULTS;
    }

    /** Makes this many attempts at most, with the standard back-off. */
    public static StepOptions retry(int attempts) {
        return retry(RetryPolicy.standard().attempts(attempts));
    }

    /** Retries by this policy. */
    public static StepOptions retry(RetryPolicy policy) {
        Texts.requireGiven("retry policy", policy);
        return new StepOptions(policy, null, null, null);
    }

    /** Takes a permit of this limiter before each attempt. */
    public static StepOptions limit(Limiter limiter) {
        return DEFAULTS.limitedBy(limiter);
    }

    /**
     * The same for options that have something else too: {@code retry(5).limitedBy(STRIPE)}. The time for which a step
     * waits for its permit does not count for its timeout.
     */
    public StepOptions limitedBy(Limiter one) {
        Texts.requireGiven("limiter", one);
        return new StepOptions(retry, timeout, heartbeatTimeout, one);
    }

    /**
     * Interrupts an attempt that takes longer, counts it as failed and ignores what it still returns. The next attempt
     * starts only after the interrupted one has ended. The body can {@linkplain Attempt#extend extend} the timeout.
     */
    public StepOptions timeout(Duration limit) {
        requireLimit("step timeout", limit);
        return new StepOptions(retry, limit, heartbeatTimeout, limiter);
    }

    /**
     * Interrupts an attempt that reports nothing for longer, as {@link #timeout(Duration)} does: from its beginning, and
     * from each {@link Attempt#heartbeat()} and {@link Attempt#progress}. So a body that hangs ends long before a
     * timeout that allows for all its work. A heartbeat timeout of less than some seconds also ends a body whose process
     * pauses for garbage collection.
     */
    public StepOptions heartbeatTimeout(Duration limit) {
        requireLimit("heartbeat timeout", limit);
        return new StepOptions(retry, timeout, limit, limiter);
    }

    private static void requireLimit(String what, Duration limit) {
        Texts.requireGiven(what, limit);
        if (limit.isNegative() || limit.isZero() || limit.compareTo(LONGEST_TIMEOUT) > 0) {
            throw new InvalidRequestException("The %s is %s; it must be longer than zero and at most %s days."
                    .formatted(what, limit, LONGEST_TIMEOUT.toDays()));
        }
    }

    /** The retry policy, if this step has its own. */
    public Optional<RetryPolicy> retry() {
        return Optional.ofNullable(retry);
    }

    /** The timeout of an attempt, if any. */
    public Optional<Duration> timeout() {
        return Optional.ofNullable(timeout);
    }

    /** For how long an attempt may report nothing, if that is limited. */
    public Optional<Duration> heartbeatTimeout() {
        return Optional.ofNullable(heartbeatTimeout);
    }

    /** The limiter of its attempts, if any. */
    public Optional<Limiter> limiter() {
        return Optional.ofNullable(limiter);
    }
}
