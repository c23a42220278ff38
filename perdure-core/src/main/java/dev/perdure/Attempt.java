package dev.perdure;

import java.time.Duration;

/**
 * The current attempt of a step, for use inside the step's body.
 *
 * <pre>{@code
 * ctx.step("charge", () -> gateway.charge(order, ctx.attempt().idempotencyKey()));
 * }</pre>
 */
public interface Attempt {
    /** The number of this attempt, from 1. Attempts before a crash count. */
    int number();

    /**
     * A text that is the same for every attempt of this step and differs from that of every other step of any run. Pass
     * it to external systems so that they recognise a repeated request.
     */
    String idempotencyKey();

    /**
     * Sets the delay before the next attempt, if this one fails and the policy retries it. Replaces the delay of the
     * policy.
     */
    void retryAfter(Duration delay);
}
