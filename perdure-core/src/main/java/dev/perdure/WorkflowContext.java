package dev.perdure;

import dev.perdure.dag.Dag;
import dev.perdure.error.ContextMisuseException;
import dev.perdure.error.PerdureException;
import dev.perdure.error.StepFailedException;
import dev.perdure.object.ObjectCalls;
import dev.perdure.object.VirtualObject;
import dev.perdure.transaction.TransactionAction;
import dev.perdure.transaction.TransactionBody;
import dev.perdure.transaction.TransactionOptions;
import dev.perdure.transaction.TransactionSource;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
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

    // ---- futures

    /**
     * {@link #step(String, StepBody)} beside the workflow's own thread. At most a hundred bodies of a run are at work at once, the
     * others wait for their turn. The next attempt of one that failed begins when it is awaited.
     */
    <T extends @Nullable Object> DurableFuture<T> stepAsync(String name, StepBody<T> body);

    /** {@link #stepAsync(String, StepBody)} with options. */
    <T extends @Nullable Object> DurableFuture<T> stepAsync(String name, StepBody<T> body, StepOptions options);

    /** {@link #stepAsync(String, StepBody)} with its result type spelled out, and options. */
    <T extends @Nullable Object> DurableFuture<T> stepAsync(
            String name, TypeRef<T> type, StepBody<T> body, StepOptions options);

    /** A step without result, beside the workflow's own thread. */
    DurableFuture<@Nullable Void> runAsync(String name, StepAction body);

    /** A step without result, beside the workflow's own thread, with options. */
    DurableFuture<@Nullable Void> runAsync(String name, StepAction body, StepOptions options);

    /** A timer that begins now. */
    DurableFuture<@Nullable Void> timer(Duration duration);

    /** All of them: fails with the first failure, and leaves the others alone. */
    <T extends @Nullable Object> DurableFuture<List<T>> all(List<? extends DurableFuture<? extends T>> futures);

    /** All of them, however they settle. */
    <T extends @Nullable Object> DurableFuture<List<Settled<T>>> allSettled(
            List<? extends DurableFuture<? extends T>> futures);

    /** Which of them is the first to settle, as its place in the list; a failure counts. */
    DurableFuture<Integer> any(List<? extends DurableFuture<?>> futures);

    /** {@link #any(List)}. */
    default DurableFuture<Integer> any(DurableFuture<?> first, DurableFuture<?>... others) {
        List<DurableFuture<?>> all = new ArrayList<>(List.of(others));
        all.addFirst(first);
        return any(all);
    }

    /** What the first of them to settle gives, or its failure. */
    <T extends @Nullable Object> DurableFuture<T> race(List<? extends DurableFuture<? extends T>> futures);

    /** What the first of them to succeed gives; fails with the last one's failure if none does. */
    <T extends @Nullable Object> DurableFuture<T> firstSucceeded(List<? extends DurableFuture<? extends T>> futures);

    /**
     * Begins something for each item, with at most so many begun and not settled, and waits for all.
     *
     * @return the results in the order of the items
     * @throws PerdureException the first failure; nothing more is begun then
     */
    <I extends @Nullable Object, T extends @Nullable Object> List<T> parallel(
            List<I> items, int atMost, Function<? super I, ? extends DurableFuture<? extends T>> begin);

    // ---- children

    /** Starts a child and waits for its result. */
    <W, I extends @Nullable Object, R extends @Nullable Object> R call(
            WorkflowMethod.Function<W, I, R> method, I input);

    /** Starts a child and waits for its result. */
    <W, R extends @Nullable Object> R call(WorkflowMethod.Supplier<W, R> method);

    /** Starts a child and waits for its result. */
    <I extends @Nullable Object, R extends @Nullable Object> R call(Definition<I, R> definition, I input);

    /** Starts a child and waits for its end. */
    <W, I extends @Nullable Object> void callVoid(WorkflowMethod.Consumer<W, I> method, I input);

    /** Starts a graph and waits for its result. */
    <I extends @Nullable Object, O extends @Nullable Object> O call(Dag<I, O> graph, I input);

    /** Starts a graph as a child. */
    <I extends @Nullable Object, O extends @Nullable Object> Child<O> startChild(
            Dag<I, O> graph, I input, ChildOptions options);

    /** Starts a child and goes on. */
    <W, I extends @Nullable Object, R extends @Nullable Object> Child<R> startChild(
            WorkflowMethod.Function<W, I, R> method, I input);

    /** Starts a child and goes on. */
    <W, I extends @Nullable Object, R extends @Nullable Object> Child<R> startChild(
            WorkflowMethod.Function<W, I, R> method, I input, ChildOptions options);

    /** Starts a child and goes on. */
    <W, R extends @Nullable Object> Child<R> startChild(WorkflowMethod.Supplier<W, R> method, ChildOptions options);

    /** Starts a child and goes on. */
    <I extends @Nullable Object, R extends @Nullable Object> Child<R> startChild(Definition<I, R> definition, I input);

    /** Starts a child and goes on. */
    <I extends @Nullable Object, R extends @Nullable Object> Child<R> startChild(
            Definition<I, R> definition, I input, ChildOptions options);

    /** Starts a child without result and goes on. */
    <W, I extends @Nullable Object> Child<@Nullable Void> startChildVoid(
            WorkflowMethod.Consumer<W, I> method, I input, ChildOptions options);

    /** Starts a run that this one has nothing to do with any more, and gives its id. */
    <W, I extends @Nullable Object, R extends @Nullable Object> RunId spawn(
            WorkflowMethod.Function<W, I, R> method, I input, StartOptions options);

    /** Starts a run that this one has nothing to do with any more, and gives its id. */
    <I extends @Nullable Object, R extends @Nullable Object> RunId spawn(
            Definition<I, R> definition, I input, StartOptions options);

    /** A virtual object, by the class that is marked as {@link VirtualObject} and its key. */
    <O> ObjectCalls<O> object(Class<O> type, String key);

    // ---- messages

    /** The next message on a topic. Taken when it is awaited, in the order of arrival; kept until then. */
    <T extends @Nullable Object> DurableFuture<T> receive(Topic<T> topic);

    /** Waits for the next message on a topic; empty if none comes in time, or if it is {@code null}. */
    <T> Optional<T> receive(Topic<T> topic, Duration timeout);

    /** Sends a message to a run. Goes out with this run's next commit; is dropped if that run is unknown or has ended. */
    <T extends @Nullable Object> void send(RunId to, Topic<T> topic, T value);

    /** A promise of this run: settled once, from anywhere, awaited as often as one likes. */
    <T extends @Nullable Object> DurableFuture<T> promise(Topic<T> name);

    /** Resolves a promise of another run. Goes out with this run's next commit; has no effect if it is settled already. */
    <T extends @Nullable Object> void resolve(RunId run, Topic<T> promise, T value);

    /** Rejects a promise of another run. Goes out with this run's next commit; has no effect if it is settled already. */
    void reject(RunId run, Topic<?> promise, String reason);

    /**
     * Resolves the awakeable with this token, of whatever run. Made at once and recorded, as a step is.
     *
     * @return whether it arrived: not if no awakeable has the token, or if it is settled already
     */
    boolean resolve(String token, @Nullable Object value);

    /** Rejects the awakeable with this token, as {@link #resolve(String, Object)} resolves it. */
    boolean reject(String token, String reason);

    /** Something that only whoever is given its token can settle. */
    <T> Awakeable<T> awakeable(Class<T> type);

    /** Something that only whoever is given its token can settle. */
    <T extends @Nullable Object> Awakeable<T> awakeable(TypeRef<T> type);

    /** The next event of this name, with whatever key. Only those emitted from this run's next commit on reach it. */
    <T extends @Nullable Object> DurableFuture<T> event(Topic<T> name);

    /** The next event of this name with this key. */
    <T extends @Nullable Object> DurableFuture<T> event(Topic<T> name, String key);

    /** Emits an event without a key, as a step, to every run that waits for it now and named none; says how many that were. */
    <T extends @Nullable Object> int emit(Topic<T> name, T value);

    /** Emits an event, as a step, to every run that waits for it now with this key or without one; says how many that were. */
    <T extends @Nullable Object> int emit(Topic<T> name, String key, T value);

    /** Shows a value to the world, after those shown before under the same topic. Goes out with this run's next commit. */
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
