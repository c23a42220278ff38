package dev.perdure;

import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * What a workflow does durably, it does through this. Each call takes the next position in the run's journal: the first
 * time it acts and is recorded, on every replay the record answers. So the calls and their parameters must come in the
 * same order each time; between them any code may run ({@code docs/guides/determinism.md}).
 *
 * <p>A context belongs to one run and one thread. It cannot be used inside a step body ({@link #attempt()} apart),
 * from another thread, or after the workflow has returned.
 */
public interface WorkflowContext {
    /** The run this is. */
    RunId runId();

    /**
     * Runs the body once and records its result. The result type is read from the lambda; where that cannot say it
     * safely (a raw {@code List}, an interface), the first execution says so.
     *
     * @return what was recorded, the same on every replay
     * @throws StepFailedException when the attempts are used up; the same on every replay
     */
    <T extends @Nullable Object> T step(String name, StepBody<T> body);

    /** {@link #step(String, StepBody)} with options. */
    <T extends @Nullable Object> T step(String name, StepBody<T> body, StepOptions options);

    /** {@link #step(String, StepBody)} with its result type spelled out. */
    <T extends @Nullable Object> T step(String name, TypeRef<T> type, StepBody<T> body);

    /** {@link #step(String, StepBody)} with its result type spelled out, and options. */
    <T extends @Nullable Object> T step(String name, TypeRef<T> type, StepBody<T> body, StepOptions options);

    /** A step without result. */
    void run(String name, StepAction body);

    /** A step without result, with options. */
    void run(String name, StepAction body, StepOptions options);

    /**
     * Runs the body in a transaction of the application's own database and records its result in that same transaction:
     * both are committed, once, or neither is. The transaction is not the body's to end. Transactions that lost against
     * others are run again; any other exception rolls back and follows the retry policy.
     *
     * @param source which database, and what it guarantees
     * @return what was recorded, the same on every replay
     * @throws StepFailedException when the attempts are used up; the same on every replay
     */
    <C, T extends @Nullable Object> T transaction(String name, TransactionSource<C> source, TransactionBody<C, T> body);

    /** {@link #transaction(String, TransactionSource, TransactionBody)} with options. */
    <C, T extends @Nullable Object> T transaction(
            String name, TransactionSource<C> source, TransactionBody<C, T> body, TransactionOptions options);

    /** {@link #transaction(String, TransactionSource, TransactionBody)} with its result type spelled out, and options. */
    <C, T extends @Nullable Object> T transaction(
            String name,
            TransactionSource<C> source,
            TypeRef<T> type,
            TransactionBody<C, T> body,
            TransactionOptions options);

    /** A transaction step without result. */
    <C> void transact(String name, TransactionSource<C> source, TransactionAction<C> body);

    /** A transaction step without result, with options. */
    <C> void transact(String name, TransactionSource<C> source, TransactionAction<C> body, TransactionOptions options);

    /**
     * Sleeps through crashes and deploys, to a deadline that is fixed when the sleep begins. Longer sleeps hold no
     * thread and no heap. Zero or less returns at once.
     */
    void sleep(Duration duration);

    /** The time, recorded: the same on every replay. */
    Instant now();

    /** A random UUID that is the same on every replay. Costs nothing. */
    UUID uuid();

    /** A source of random numbers that gives the same numbers on every replay. Costs nothing. */
    RandomGenerator random();

    /**
     * Whether this run takes a changed branch of the code: {@code true} for runs that come here for the first time,
     * {@code false} for those that went past before the change. Decided once per run and id.
     */
    boolean patched(String id);

    /** A logger that is silent while the journal is replayed. */
    Logger logger();

    /**
     * Inside a step body: which attempt this is, and its idempotency key.
     *
     * @throws ContextMisuseException outside a step body
     */
    Attempt attempt();
}
