package dev.perdure.transaction;

import dev.perdure.RetryPolicy;
import dev.perdure.StepOptions;
import dev.perdure.internal.text.Texts;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * How the engine runs one transaction step. Immutable. Import the factory methods statically:
 *
 * <pre>{@code
 * ctx.transact("transfer", accounts, connection -> transfer(connection, order), isolation(SERIALIZABLE).retry(5));
 * }</pre>
 */
public final class TransactionOptions {
    private static final TransactionOptions DEFAULTS = new TransactionOptions(null, false, StepOptions.defaults());

    /** How the database isolates concurrent transactions. */
    public enum Isolation {
        /** Each statement sees what was committed before it began. */
        READ_COMMITTED,
        /** All statements see what was committed before the first one began. */
        REPEATABLE_READ,
        /** Transactions behave as if they ran one after another. */
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

    /** The default isolation of the database, read-write, the engine's retry policy and no timeout. */
    public static TransactionOptions defaults() {
        return DEFAULTS;
    }

    /** Runs the transaction at this isolation level. */
    public static TransactionOptions isolation(Isolation level) {
        Texts.requireGiven("isolation level", level);
        return DEFAULTS.withIsolation(level);
    }

    /**
     * Makes the transaction read-only: the database refuses changes. Because it has no effect, the engine records its
     * result like that of a plain step, after the transaction.
     */
    public static TransactionOptions readOnly() {
        return new TransactionOptions(null, true, StepOptions.defaults());
    }

    /** Runs the transaction at this isolation level. */
    public TransactionOptions withIsolation(Isolation level) {
        Texts.requireGiven("isolation level", level);
        return new TransactionOptions(level, readOnly, step);
    }

    /** Makes this many attempts at most, with the standard back-off. */
    public TransactionOptions retry(int attempts) {
        return retry(RetryPolicy.standard().attempts(attempts));
    }

    /**
     * Retries by this policy. If the transaction loses a conflict with another one, the engine runs it again without
     * counting an attempt, a bounded number of times.
     */
    public TransactionOptions retry(RetryPolicy policy) {
        Texts.requireGiven("retry policy", policy);
        StepOptions retried = StepOptions.retry(policy);
        return new TransactionOptions(
                isolation, readOnly, step.timeout().map(retried::timeout).orElse(retried));
    }

    /** Interrupts a body that takes longer, rolls it back and counts it as a failed attempt. */
    public TransactionOptions timeout(Duration limit) {
        Texts.requireGiven("step timeout", limit);
        return new TransactionOptions(isolation, readOnly, step.timeout(limit));
    }

    /** The isolation, if this step has its own. */
    public Optional<Isolation> isolation() {
        return Optional.ofNullable(isolation);
    }

    /** Whether the transaction is read-only. */
    public boolean isReadOnly() {
        return readOnly;
    }

    /** The options that it shares with plain steps: retry policy and timeout. */
    public StepOptions step() {
        return step;
    }
}
