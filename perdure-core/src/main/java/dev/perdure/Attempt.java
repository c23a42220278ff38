package dev.perdure;

import java.time.Duration;

/**
 * What a running step body can know about itself.
 *
 * <pre>{@code
 * ctx.step("charge", () -> gateway.charge(order, ctx.attempt().idempotencyKey()));
 * }</pre>
 */
public interface Attempt {
    /** 1 for the first try, counted across crashes. */
    int number();

    /** The same text for every attempt of this step and for no other step of any run: hand it to external systems. */
    String idempotencyKey();

    /** If this attempt fails and is to be retried, wait this long instead of what the policy says. */
    void retryAfter(Duration delay);
}
