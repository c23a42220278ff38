package dev.perdure;

import dev.perdure.error.ContextMisuseException;
import dev.perdure.error.StepFailedException;
import dev.perdure.object.ObjectCalls;
import dev.perdure.object.VirtualObject;
import dev.perdure.transaction.TransactionAction;
import dev.perdure.transaction.TransactionBody;
import dev.perdure.transaction.TransactionOptions;
import dev.perdure.transaction.TransactionSource;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * What a workflow does durably, it does through its context. Each call takes the next position in the run's journal: the first
 * time it acts and is recorded, on every replay the record answers. So the calls and their parameters must come in the
 * same order each time; between them any code may run ({@code docs/guides/determinism.md}).
 *
 * <p>A context belongs to one run and one thread. It cannot be used inside a step body ({@link #attempt()} apart),
 * from another thread, or after the workflow has returned.
 */
@SuppressWarnings("overloads") // an exact method reference fits one of them only
public interface WorkflowContext {
    /** The run this is. */
    RunId runId();

    /**
     * Runs the body once and records its result. The result type is read from the lambda. Where that cannot say it
     * safely (a raw {@code List}, an interface), the first execution fails and says so: spell the type out with
     * {@link StepBody#returning}.
     *
     * <p>The compiler chooses between this and {@link #step(String, StepAction)} by the body: an expression with a value is a
     * result and is recorded; a block without {@code return} has none. A reference to an overloaded method is ambiguous: write a
     * lambda instead.
     *
     * @return what was recorded, the same on every replay
     * @throws StepFailedException when the attempts are used up; the same on every replay
     */
    <T extends @Nullable Object> T step(String name, StepBody<T> body);

    /** {@link #step(String, StepBody)} with options. */
    <T extends @Nullable Object> T step(String name, StepBody<T> body, StepOptions options);

    /** A step without result. */
    void step(String name, StepAction body);

    /** A step without result, with options. */
    void step(String name, StepAction body, StepOptions options);

    /**
     * Runs the body in a transaction of the application's own database and records its result in that same transaction:
     * both are committed, once, or neither is. The body does not end the transaction. A transaction that lost against
     * another is run again; any other exception rolls back and follows the retry policy.
     *
     * @param source which database, and what it guarantees
     * @return what was recorded, the same on every replay
     * @throws StepFailedException when the attempts are used up; the same on every replay
     */
    <C, T extends @Nullable Object> T transaction(String name, TransactionSource<C> source, TransactionBody<C, T> body);

    /** {@link #transaction(String, TransactionSource, TransactionBody)} with options. */
    <C, T extends @Nullable Object> T transaction(
            String name, TransactionSource<C> source, TransactionBody<C, T> body, TransactionOptions options);

    /**
     * A transaction step without result. It has a name of its own because the compiler cannot tell from
     * {@code connection -> debit(connection, order)} whether the result counts.
     */
    <C> void transact(String name, TransactionSource<C> source, TransactionAction<C> body);

    /** A transaction step without result, with options. */
    <C> void transact(String name, TransactionSource<C> source, TransactionAction<C> body, TransactionOptions options);

    /**
     * Sleeps through crashes and deploys, to a deadline that is fixed when the sleep begins. Longer sleeps hold no
     * thread and no heap. Zero or less returns at once.
     */
    void sleep(Duration duration);

    // ---- futures

    /**
     * {@link #step(String, StepBody)} beside the workflow's own thread. At most a hundred bodies of a run are at work at once, the
     * others wait for their turn. The next attempt of one that failed begins when it is awaited.
     */
    <T extends @Nullable Object> DurableFuture<T> stepAsync(String name, StepBody<T> body);

    /** {@link #stepAsync(String, StepBody)} with options. */
    <T extends @Nullable Object> DurableFuture<T> stepAsync(String name, StepBody<T> body, StepOptions options);

    /** A step without result, beside the workflow's own thread. */
    DurableFuture<@Nullable Void> stepAsync(String name, StepAction body);

    /** A step without result, beside the workflow's own thread, with options. */
    DurableFuture<@Nullable Void> stepAsync(String name, StepAction body, StepOptions options);

    /** A timer that begins now. */
    DurableFuture<@Nullable Void> timer(Duration duration);

    // ---- children

    /** Runs a workflow method as a child and waits for its result. */
    <W, I extends @Nullable Object, R extends @Nullable Object> R call(
            WorkflowMethod.Function<W, I, R> method, I input);

    /** Runs a workflow method without result as a child and waits for its end. */
    <W, I extends @Nullable Object> void call(WorkflowMethod.Consumer<W, I> method, I input);

    /** Starts a child and waits for its result. */
    <R extends @Nullable Object> R call(Invocation<R> invocation);

    /** Starts a child and continues. */
    <R extends @Nullable Object> Child<R> startChild(Invocation<R> invocation);

    /** Starts a child with options and continues. */
    <R extends @Nullable Object> Child<R> startChild(Invocation<R> invocation, ChildOptions options);

    /** Starts a run that is independent of this one, and gives its id: it is not cancelled with this run, and cannot be awaited. */
    RunId spawn(Invocation<?> invocation, StartOptions options);

    /** A virtual object, by the class that is marked as {@link VirtualObject} and its key. */
    <O> ObjectCalls<O> object(Class<O> type, String key);

    // ---- messages

    /**
     * The next message on a topic. It is taken when it is awaited, in the order of arrival, and kept until then. To wait for a
     * limited time: {@code ctx.receive(PAID).await(Duration.ofDays(3))}.
     */
    <T extends @Nullable Object> DurableFuture<T> receive(Topic<T> topic);

    /** Sends a message to a run. Goes out with this run's next commit; is dropped if that run is unknown or has ended. */
    <T extends @Nullable Object> void send(RunId to, Topic<T> topic, T value);

    /** A promise of this run: settled once, from anywhere, and awaited any number of times. */
    <T extends @Nullable Object> DurableFuture<T> promise(Topic<T> name);

    /** Settles a promise of another run. The answer goes out with this run's next commit; an answer to a settled promise has no effect. */
    <T extends @Nullable Object> PromiseResolver<T> promise(RunId run, Topic<T> name);

    /**
     * Resolves the awakeable with this token, in any run. It is done at once and recorded, as a step is.
     *
     * @return whether it arrived: not if no awakeable has the token, or if it is settled already
     */
    boolean resolve(String token, @Nullable Object value);

    /** Rejects the awakeable with this token, as {@link #resolve(String, Object)} resolves it. */
    boolean reject(String token, String reason);

    /** A future that is settled from outside by its token. */
    <T> Awakeable<T> awakeable(Class<T> type);

    /** A future of a generic type that is settled from outside by its token. */
    <T extends @Nullable Object> Awakeable<T> awakeable(TypeRef<T> type);

    /**
     * The next event of this topic: of any key, or only of one ({@code STOCK.key("eu")}). Only events that are emitted after this
     * run's next commit reach it.
     */
    <T extends @Nullable Object> DurableFuture<T> event(EventTopic<T> topic);

    /**
     * Emits an event, as a step, to every run that waits for it now: with a key ({@code STOCK.key("eu")}) to those that wait for
     * this key or for any, without a key only to those that wait for any. Like the body of a step, it happens again if the worker
     * loses this run before the number is recorded: a run that waits for the next event by then gets the same one again. Put an id
     * into the event if that matters.
     *
     * @return how many waiting calls it reached, the last time if it happened again
     */
    <T extends @Nullable Object> int emit(EventTopic<T> topic, T value);

    /** Publishes a value, after those published before under the same topic. It becomes visible with this run's next commit. */
    <T extends @Nullable Object> void publish(Topic<T> topic, T value);

    /**
     * Ends this run's journal and begins anew under the same id, with this input: for loops without end. Messages that were
     * not received, resolved promises, the deadline and a cancel stay. Never returns; write
     * {@code throw ctx.continueAsNew(next)}.
     */
    Error continueAsNew(@Nullable Object input);

    // ---- time, chance, versions

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
