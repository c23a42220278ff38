package dev.perdure.transaction;

import dev.perdure.RetryPolicy;
import dev.perdure.StepOptions;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * How one transaction step is run. Immutable; made to be imported statically:
 *
 * <pre>{@code
 * ctx.transact("transfer", accounts, connection -> transfer(connection, order), isolation(SERIALIZABLE).retry(5));
 * }</pre>
 */
public final class TransactionOptions {
    private static final TransactionOptions DEFAULTS = new TransactionOptions(null, false, StepOptions.defaults());

    /** How transactions that run at the same time are kept apart. */
    public enum Isolation {
        /** Each statement sees what was committed before it. */
        READ_COMMITTED,
        /** All statements see what was committed before the first. */
        REPEATABLE_READ,
        /** As if transactions ran one after another. */
        SERIALIZABLE
    }

    private final @Nullable Isolation isolation;
    private final boolean readOnly;
    private final StepOptions step;

    private TransactionOptions(@Nullable Isolation isolation, boolean readOnly, StepOptions step) {
        this.isolation = isolation;
        this.readOnly = readOnly;
        this.step = step;
    }

    /** The isolation that the database has by default, reading and writing, and the engine's retry policy. */
    public static TransactionOptions defaults() {
        return DEFAULTS;
    }

    /** At this isolation. */
    public static TransactionOptions isolation(Isolation level) {
        return DEFAULTS.withIsolation(level);
    }

    /**
     * Changes nothing: the database refuses what would. Having no effect, its result is recorded like that of a plain
     * step, after the transaction.
     */
    public static TransactionOptions readOnly() {
        return new TransactionOptions(null, true, StepOptions.defaults());
    }

    /** At this isolation. */
    public TransactionOptions withIsolation(Isolation level) {
        return new TransactionOptions(level, readOnly, step);
    }

    /** Try this often in all, with the standard back-off. */
    public TransactionOptions retry(int attempts) {
        return retry(RetryPolicy.standard().attempts(attempts));
    }

    /**
     * Try again by this policy. What lost against other transactions is run again without counting as an attempt, a
     * bounded number of times.
     */
    public TransactionOptions retry(RetryPolicy policy) {
        StepOptions retried = StepOptions.retry(policy);
        return new TransactionOptions(
                isolation, readOnly, step.timeout().map(retried::timeout).orElse(retried));
    }

    /** Interrupt a body that takes longer, roll it back and count it as a failed attempt. */
    public TransactionOptions timeout(Duration limit) {
        return new TransactionOptions(isolation, readOnly, step.timeout(limit));
    }

    /** The isolation, if this step has one of its own. */
    public Optional<Isolation> isolation() {
        return Optional.ofNullable(isolation);
    }

    /** Whether it only reads. */
    public boolean isReadOnly() {
        return readOnly;
    }

    /** What it has in common with plain steps: retry policy and timeout. */
    public StepOptions step() {
        return step;
    }
}
