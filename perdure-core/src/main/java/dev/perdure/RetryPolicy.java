package dev.perdure;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.TerminalException;
import dev.perdure.internal.text.Texts;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How the engine retries a failing step. It tries up to {@link #attempts()} times. The first delay is
 * {@link #initialDelay()}; each next one is {@link #factor()} times longer, up to {@link #maxDelay()}. The engine
 * shortens each delay at random by up to the share {@link #jitter()}. Immutable; each method returns a changed copy.
 */
public final class RetryPolicy {
    private static final Duration LONGEST_DELAY = Duration.ofDays(36_500);
    private static final RetryPolicy DEFAULT = new RetryPolicy(
            10, Duration.ofMillis(200), 2.0, Duration.ofMinutes(1), 0.2, null, List.of(TerminalException.class));

    private final int attempts;
    private final Duration initialDelay;
    private final double factor;
    private final Duration maxDelay;
    private final double jitter;
    private final @Nullable Duration totalTime;
    private final List<Class<? extends Throwable>> nonRetryable;

    private RetryPolicy(
            int attempts,
            Duration initialDelay,
            double factor,
            Duration maxDelay,
            double jitter,
            @Nullable Duration totalTime,
            List<Class<? extends Throwable>> nonRetryable) {
        require(attempts >= 1, "attempts is " + attempts + "; it includes the first attempt and is at least 1");
        require(!initialDelay.isNegative(), "initialDelay is " + initialDelay + "; it cannot be negative");
        require(factor >= 1 && Double.isFinite(factor), "factor is " + factor + "; it is at least 1");
        require(
                maxDelay.compareTo(initialDelay) >= 0,
                "maxDelay " + maxDelay + " is below initialDelay " + initialDelay);
        require(
                maxDelay.compareTo(LONGEST_DELAY) <= 0,
                "maxDelay is " + maxDelay + "; it is at most " + LONGEST_DELAY.toDays() + " days");
        require(jitter >= 0 && jitter <= 1, "jitter is " + jitter + "; it is a share between 0 and 1");
        require(totalTime == null || !totalTime.isNegative(), "totalTime is " + totalTime + "; it cannot be negative");
        this.attempts = attempts;
        this.initialDelay = initialDelay;
        this.factor = factor;
        this.maxDelay = maxDelay;
        this.jitter = jitter;
        this.totalTime = totalTime;
        this.nonRetryable = List.copyOf(nonRetryable);
    }

    private static void require(boolean holds, String reason) {
        if (!holds) {
            throw new InvalidRequestException("Bad retry policy: " + reason + ".");
        }
    }

    /** 10 attempts; delays from 200 ms that double up to one minute; a jitter of 0.2. */
    public static RetryPolicy standard() {
        return DEFAULT;
    }

    /** One attempt and no retry. */
    public static RetryPolicy none() {
        return DEFAULT.attempts(1);
    }

    /** How many attempts the step has, the first included. */
    public RetryPolicy attempts(int count) {
        return new RetryPolicy(count, initialDelay, factor, maxDelay, jitter, totalTime, nonRetryable);
    }

    /** The delay after the first failure. Raises {@link #maxDelay()} to this delay if it is shorter. */
    public RetryPolicy initialDelay(Duration delay) {
        Texts.requireGiven("initial delay", delay);
        Duration cap = maxDelay.compareTo(delay) < 0 ? delay : maxDelay;
        return new RetryPolicy(attempts, delay, factor, cap, jitter, totalTime, nonRetryable);
    }

    /** The factor by which each delay is longer than the one before. */
    public RetryPolicy factor(double times) {
        return new RetryPolicy(attempts, initialDelay, times, maxDelay, jitter, totalTime, nonRetryable);
    }

    /** The longest delay. */
    public RetryPolicy maxDelay(Duration cap) {
        Texts.requireGiven("maximal delay", cap);
        return new RetryPolicy(attempts, initialDelay, factor, cap, jitter, totalTime, nonRetryable);
    }

    /** The largest share by which the engine shortens a delay at random: 0 for none, 1 for all of it. */
    public RetryPolicy jitter(double share) {
        return new RetryPolicy(attempts, initialDelay, factor, maxDelay, share, totalTime, nonRetryable);
    }

    /** Starts no further attempt when this much time has passed since the first failure. */
    public RetryPolicy totalTime(Duration limit) {
        Texts.requireGiven("total time", limit);
        return new RetryPolicy(attempts, initialDelay, factor, maxDelay, jitter, limit, nonRetryable);
    }

    /** Fails the step at once on exceptions of this class or its subclasses. Adds to the classes set before. */
    public RetryPolicy nonRetryable(Class<? extends Throwable> type) {
        Texts.requireGiven("exception type", type);
        List<Class<? extends Throwable>> types = new ArrayList<>(nonRetryable);
        types.add(type);
        return new RetryPolicy(attempts, initialDelay, factor, maxDelay, jitter, totalTime, types);
    }

    /** How many attempts the step has, the first included. */
    public int attempts() {
        return attempts;
    }

    /** The delay after the first failure. */
    public Duration initialDelay() {
        return initialDelay;
    }

    /** The factor by which each delay is longer than the one before. */
    public double factor() {
        return factor;
    }

    /** The longest delay. */
    public Duration maxDelay() {
        return maxDelay;
    }

    /** The largest share by which the engine shortens a delay at random: 0 for none, 1 for all of it. */
    public double jitter() {
        return jitter;
    }

    /** Whether the policy retries after this exception. */
    public boolean retries(Throwable failure) {
        Texts.requireGiven("failure", failure);
        return nonRetryable.stream().noneMatch(type -> type.isInstance(failure));
    }

    /** Whether another attempt may start after {@code failed} failures, {@code elapsed} after the first of them. */
    public boolean allows(int failed, Duration elapsed) {
        Texts.requireGiven("elapsed time", elapsed);
        return failed < attempts && (totalTime == null || elapsed.compareTo(totalTime) <= 0);
    }

    /**
     * The delay after the given number of failures.
     *
     * @param failed how many attempts have failed, at least 1
     * @param chance a number from 0 to 1 that decides the jitter
     */
    public Duration delay(int failed, double chance) {
        double grown = (double) initialDelay.toMillis() * Math.pow(factor, failed - 1);
        double capped = Math.min(grown, (double) maxDelay.toMillis());
        return Duration.ofMillis(Math.round(capped * (1 - jitter * chance)));
    }
}
