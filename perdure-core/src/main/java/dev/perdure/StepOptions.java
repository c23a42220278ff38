package dev.perdure;

import dev.perdure.error.InvalidRequestException;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * How one step is run. Immutable; made to be imported statically:
 *
 * <pre>{@code
 * ctx.step("ship", () -> shipping.ship(order), retry(5).timeout(Duration.ofSeconds(10)));
 * }</pre>
 */
public final class StepOptions {
    private static final StepOptions DEFAULTS = new StepOptions(null, null);

    private final @Nullable RetryPolicy retry;
    private final @Nullable Duration timeout;

    private StepOptions(@Nullable RetryPolicy retry, @Nullable Duration timeout) {
        if (timeout != null && (timeout.isNegative() || timeout.isZero())) {
            throw new InvalidRequestException("The step timeout is " + timeout + "; it must be longer than zero.");
        }
        this.retry = retry;
        this.timeout = timeout;
    }

    /** What the engine does when nothing is said. */
    public static StepOptions defaults() {
        return DEFAULTS;
    }

    /** Try this often in all, with the standard back-off. */
    public static StepOptions retry(int attempts) {
        return retry(RetryPolicy.standard().attempts(attempts));
    }

    /** Try again by this policy. */
    public static StepOptions retry(RetryPolicy policy) {
        return new StepOptions(policy, null);
    }

    /**
     * Interrupt an attempt that takes longer, count it as failed and ignore what it still returns. The next attempt
     * starts when the interrupted one has ended, never beside it.
     */
    public StepOptions timeout(Duration limit) {
        return new StepOptions(retry, limit);
    }

    /** The policy, if this step has one of its own. */
    public Optional<RetryPolicy> retry() {
        return Optional.ofNullable(retry);
    }

    /** The longest an attempt may take, if limited. */
    public Optional<Duration> timeout() {
        return Optional.ofNullable(timeout);
    }
}
