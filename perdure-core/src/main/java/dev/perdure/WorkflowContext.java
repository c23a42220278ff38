package dev.perdure;

import dev.perdure.attribute.Attribute;
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
 * The durable operations of a workflow. Each call takes the next position in the run's journal. The first time, the
 * engine carries the call out and records it; on every replay, the record answers it. So a workflow must make the same
 * calls with the same parameters in the same order each time. Between the calls it may run any code
 * ({@code docs/guides/determinism.md}).
 *
 * <p>A context belongs to one run and one thread. Do not use it inside a step body (except {@link #attempt()}), from
 * another thread, or after the workflow has returned.
 */
@SuppressWarnings("overloads") // an exact method reference fits one of them only
public interface WorkflowContext {
    /** The id of this run. */
    RunId runId();

    /**
     * Runs the body and records its result. The engine reads the result type from the lambda. If the lambda does not
     * show it reliably (a raw {@code List}, an interface), the first execution fails with a message that says so: state
     * the type with {@link StepBody#returning}.
     *
     * <p>The compiler chooses between this method and {@link #step(String, StepAction)} by the body: an expression with
     * a value has a result, which is recorded; a block without {@code return} has none. A reference to an overloaded
     * method is ambiguous: write a lambda instead.
     *
     * @return what was recorded, the same on every replay
     * @throws StepFailedException when the attempts are used up; the same on every replay
     */
    <T extends @Nullable Object> T step(String name, StepBody<T> body);

    /** {@link #step(String, StepBody)} with options. */
    <T extends @Nullable Object> T step(String name, StepBody<T> body, StepOptions options);

    /** A step without a result. */
    void step(String name, StepAction body);

    /** A step without a result, with options. */
    void step(String name, StepAction body, StepOptions options);

    /**
     * Runs the body in a transaction of the application's own database and records its result in that transaction:
     * either both are committed, once, or neither is. The body must not end the transaction. If the transaction loses a
     * conflict with another one, the engine runs it again; any other exception rolls it back and follows the retry
     * policy.
     *
     * @param source the database, with its guarantees
     * @return what was recorded, the same on every replay
     * @throws StepFailedException when the attempts are used up; the same on every replay
     */
    <C, T extends @Nullable Object> T transaction(String name, TransactionSource<C> source, TransactionBody<C, T> body);

    /** {@link #transaction(String, TransactionSource, TransactionBody)} with options. */
    <C, T extends @Nullable Object> T transaction(
            String name, TransactionSource<C> source, TransactionBody<C, T> body, TransactionOptions options);

    /**
     * A transaction step without a result. It has its own name because the compiler cannot tell from
     * {@code connection -> debit(connection, order)} whether the result is meant to be recorded.
     */
    <C> void transact(String name, TransactionSource<C> source, TransactionAction<C> body);

    /** A transaction step without a result, with options. */
    <C> void transact(String name, TransactionSource<C> source, TransactionAction<C> body, TransactionOptions options);

    /**
     * Sleeps until a deadline that is fixed when the sleep begins, also through crashes and deploys. A long sleep holds
     * neither a thread nor heap. With a duration of zero or less it returns at once.
     */
    void sleep(Duration duration);

    // ---- futures

    /**
     * Runs {@link #step(String, StepBody)} in parallel to the workflow's own thread. At most 100 bodies of a run are at
     * work at once; the others wait. The next attempt of a failed step begins when the workflow awaits it.
     */
    <T extends @Nullable Object> DurableFuture<T> stepAsync(String name, StepBody<T> body);

    /** {@link #stepAsync(String, StepBody)} with options. */
    <T extends @Nullable Object> DurableFuture<T> stepAsync(String name, StepBody<T> body, StepOptions options);

    /** A step without a result, in parallel to the workflow's own thread. */
    DurableFuture<@Nullable Void> stepAsync(String name, StepAction body);

    /** A step without a result, in parallel to the workflow's own thread, with options. */
    DurableFuture<@Nullable Void> stepAsync(String name, StepAction body, StepOptions options);

    /** A timer that begins now. */
    DurableFuture<@Nullable Void> timer(Duration duration);

    // ---- children

    /** Runs a workflow method as a child and waits for its result. */
    <W, I extends @Nullable Object, R extends @Nullable Object> R call(
            WorkflowMethod.Function<W, I, R> method, I input);

    /** Runs a workflow method without a result as a child and waits for its end. */
    <W, I extends @Nullable Object> void call(WorkflowMethod.Consumer<W, I> method, I input);

    /** Starts a child and waits for its result. */
    <R extends @Nullable Object> R call(Invocation<R> invocation);

    /** Starts a child and continues. */
    <R extends @Nullable Object> Child<R> startChild(Invocation<R> invocation);

    /** Starts a child with options and continues. */
    <R extends @Nullable Object> Child<R> startChild(Invocation<R> invocation, ChildOptions options);

    /**
     * Starts a run that is independent of this one, and returns its id. A cancel of this run does not cancel it, and
     * this run cannot await it.
     */
    RunId spawn(Invocation<?> invocation, StartOptions options);

    /** A virtual object, by its class, which is marked with {@link VirtualObject}, and its key. */
    <O> ObjectCalls<O> object(Class<O> type, String key);

    // ---- messages

    /**
     * The next message on a topic. The run takes it when it awaits it, in the order of arrival; until then the store
     * keeps it. To wait for a limited time: {@code ctx.receive(PAID).await(Duration.ofDays(3))}.
     */
    <T extends @Nullable Object> DurableFuture<T> receive(Topic<T> topic);

    /**
     * Sends a message to a run. It goes out with this run's next commit. The store drops it if that run is unknown or
     * has ended.
     */
    <T extends @Nullable Object> void send(RunId to, Topic<T> topic, T value);

    /** A promise of this run. Any process can settle it, once. The run can await it any number of times. */
    <T extends @Nullable Object> DurableFuture<T> promise(Topic<T> name);

    /**
     * Settles a promise of another run. The answer goes out with this run's next commit; an answer to a settled promise
     * has no effect.
     */
    <T extends @Nullable Object> PromiseResolver<T> promise(RunId run, Topic<T> name);

    /**
     * Resolves the awakeable with this token, in any run. The engine does it at once and records it, like a step.
     *
     * @return whether the value arrived: false if no awakeable has the token, or if it is settled already
     */
    boolean resolve(String token, @Nullable Object value);

    /** Rejects the awakeable with this token, like {@link #resolve(String, Object)}. */
    boolean reject(String token, String reason);

    /** A future that code outside the run settles by its token. */
    <T> Awakeable<T> awakeable(Class<T> type);

    /** A future of a generic type that code outside the run settles by its token. */
    <T extends @Nullable Object> Awakeable<T> awakeable(TypeRef<T> type);

    /**
     * The next event of this topic: with any key, or only with one key ({@code STOCK.key("eu")}). It gets only events
     * that are emitted after this run's next commit.
     */
    <T extends @Nullable Object> DurableFuture<T> event(EventTopic<T> topic);

    /**
     * Emits an event, as a step, to every run that waits for it now. With a key ({@code STOCK.key("eu")}) it reaches
     * the runs that wait for this key or for any key; without a key, only the runs that wait for any key. Like the body
     * of a step, it happens again if the worker loses this run before the number is recorded. Then a run that waits for
     * the next event gets the same event again. If that matters, put an id into the event.
     *
     * @return how many waiting calls it reached, the last time if it happened again
     */
    <T extends @Nullable Object> int emit(EventTopic<T> topic, T value);

    /**
     * Publishes a value, after the values that this run has published under the topic before. It becomes visible with
     * this run's next commit.
     */
    <T extends @Nullable Object> void publish(Topic<T> topic, T value);

    /**
     * Sets an attribute by which this run is found, in place of an earlier value. It becomes visible with this run's next
     * commit, and stays when the run ends, is retried or continues as new.
     *
     * @param value the value; null removes the attribute
     */
    <T> void attribute(Attribute<T> attribute, @Nullable T value);

    /**
     * Says what this run does at present, for people: it is part of {@link RunInfo}. It becomes visible with this run's
     * next commit, and stays until the run says something else.
     *
     * @param text the status, at most 200 characters
     */
    void status(String text);

    /**
     * Ends this run's journal and begins the run anew under the same id, with this input: for loops without an end.
     * Unread messages, resolved promises, the deadline and a cancel stay. It never returns; write
     * {@code throw ctx.continueAsNew(next)}.
     *
     * @param input the input, or an {@link Invocation} of this workflow, whose input the compiler checks:
     *     {@code throw ctx.continueAsNew(Invocation.of(Billing::subscription, month + 1))}
     */
    Error continueAsNew(@Nullable Object input);

    // ---- time, chance, versions

    /** The current time. It is recorded, so every replay returns the same time. */
    Instant now();

    /** A random UUID, the same on every replay. It writes nothing to the journal. */
    UUID uuid();

    /** A source of random numbers, the same on every replay. It writes nothing to the journal. */
    RandomGenerator random();

    /**
     * Whether this run takes a changed branch of the code: {@code true} for runs that reach this call for the first
     * time, {@code false} for runs that passed it before the change. The engine decides once per run and id.
     */
    boolean patched(String id);

    /** A logger that prints nothing while the engine replays the journal. */
    Logger logger();

    /**
     * Inside a step body: the current attempt, with its number and its idempotency key.
     *
     * @throws ContextMisuseException outside a step body
     */
    Attempt attempt();
}
