package dev.perdure;

import dev.perdure.error.ContextMisuseException;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.PayloadException;
import dev.perdure.error.StoreException;
import java.time.Duration;
import java.util.Optional;

/**
 * The current attempt of a step, for use inside the step's body. Thread-safe, so that a body can pass it to threads of
 * its own. When the attempt has ended, its methods that report something throw {@link ContextMisuseException}.
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

    /**
     * Reports how far the attempt is, for people who look at the run ({@link Run#progress()}). Counts as a heartbeat.
     * Returns at once: the worker writes the latest report of each attempt about once a second.
     *
     * @param fraction the part of the work that is done, from 0 to 1
     * @param message what the attempt does at the moment; at most 1,000 characters, may be empty
     * @throws InvalidRequestException if the fraction is not a number from 0 to 1, or the message cannot be stored
     */
    void progress(double fraction, String message);

    /** Says that the body is at work, so that its {@linkplain StepOptions#heartbeatTimeout timeout} begins anew. */
    void heartbeat();

    /**
     * The same, with a value for the next attempt, such as the last page that was imported. The value is encoded before
     * this returns, and written as {@link #progress} is. If the attempt fails, the last value is recorded with the
     * failure; if the process crashes, the value may be a second older.
     *
     * @throws PayloadException if the value cannot be encoded, or has more than 64 KiB
     */
    void heartbeat(Object value);

    /**
     * The value of the last heartbeat: of this attempt, if it has sent one with a value, and otherwise of an earlier
     * attempt at this step, or of this attempt in a process that crashed. Empty if there was none. Reads from the store
     * when it is first called.
     *
     * @throws PayloadException if the value cannot be read as this type
     * @throws StoreException if the body is interrupted while it waits for the store
     */
    <T> Optional<T> lastHeartbeat(Class<T> type);

    /** The same for a generic type. */
    <T> Optional<T> lastHeartbeat(TypeRef<T> type);

    /**
     * Lets the {@linkplain StepOptions#timeout timeout} of this attempt end so much later. It has no effect if the step
     * has no timeout, or if the timeout has ended.
     *
     * @throws InvalidRequestException if the duration is negative or zero, or longer than 36,500 days
     * @throws ContextMisuseException if the attempt has ended
     */
    void extend(Duration by);
}
