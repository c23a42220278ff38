package dev.perdure;

import dev.perdure.dag.Dag;
import dev.perdure.dag.DagRun;
import dev.perdure.error.AlreadyResolvedException;
import dev.perdure.error.RejectedException;
import dev.perdure.error.RunConflictException;
import dev.perdure.error.RunEndedException;
import dev.perdure.error.UnknownRunException;
import dev.perdure.error.UnknownTokenException;
import dev.perdure.object.ObjectHandle;
import dev.perdure.object.VirtualObject;
import dev.perdure.queue.Queues;
import dev.perdure.schedule.Schedules;
import dev.perdure.spi.Inbox;
import dev.perdure.spi.Store;
import java.util.Collection;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Durable execution inside this process: starts runs, executes them, waits for their results. Any number of engines,
 * in one process or many, share one store. Thread-safe.
 *
 * <pre>{@code
 * try (var perdure = Perdure.on(store).register(new Orders(payments, shipping)).start()) {
 *     Run<Receipt> run = perdure.start(Orders::process, order, id("order-42"));
 *     Receipt receipt = run.result();
 * }
 * }</pre>
 *
 * <p>A start returns when the run is durable. Starting again with the same id, workflow and input attaches to the run
 * that is there; another workflow or another input under that id is a {@link RunConflictException}.
 */
@SuppressWarnings("overloads") // an exact method reference fits one of them only
public interface Perdure extends AutoCloseable {
    /** Begins to set up an engine on a store. */
    static PerdureBuilder on(Store store) {
        return new PerdureBuilder(store);
    }

    /** Starts a workflow method with an input and a result. */
    <W, I extends @Nullable Object, R extends @Nullable Object> Run<R> start(
            WorkflowMethod.Function<W, I, R> method, I input);

    /** Starts a workflow method with an input and a result, with options. */
    <W, I extends @Nullable Object, R extends @Nullable Object> Run<R> start(
            WorkflowMethod.Function<W, I, R> method, I input, StartOptions options);

    /** Starts a workflow method with an input and no result. */
    <W, I extends @Nullable Object> Run<@Nullable Void> start(WorkflowMethod.Consumer<W, I> method, I input);

    /** Starts a workflow method with an input and no result, with options. */
    <W, I extends @Nullable Object> Run<@Nullable Void> start(
            WorkflowMethod.Consumer<W, I> method, I input, StartOptions options);

    /** Starts a run. */
    <R extends @Nullable Object> Run<R> start(Invocation<R> invocation);

    /** Starts a run with options. */
    <R extends @Nullable Object> Run<R> start(Invocation<R> invocation, StartOptions options);

    /** Starts a DAG: all its tasks are durable when this returns. */
    <I extends @Nullable Object, O extends @Nullable Object> DagRun<O> start(Dag<I, O> dag, I input);

    /** Starts a DAG with options. They cannot hold a message: nothing in the run of a DAG receives any. */
    <I extends @Nullable Object, O extends @Nullable Object> DagRun<O> start(
            Dag<I, O> dag, I input, StartOptions options);

    /**
     * Starts a run for each item, in few commits. All are tried; then the first refusal is thrown.
     *
     * <pre>{@code
     * perdure.startAll(orders, order -> Invocation.of(Orders::process, order), order -> id(order.number()));
     * }</pre>
     *
     * @param items one for each run
     * @param invocation what to run for an item
     * @param options how to start it
     */
    <T extends @Nullable Object, R extends @Nullable Object> List<Run<R>> startAll(
            List<T> items, Function<? super T, Invocation<R>> invocation, Function<? super T, StartOptions> options);

    /** A virtual object, by the class that is marked as {@link VirtualObject} and its key. It exists as soon as it is called. */
    <O> ObjectHandle<O> object(Class<O> type, String key);

    /**
     * Starts, sends, resolves and cancels inside a transaction of the caller.
     *
     * @param inbox made for that transaction by what knows its database, such as {@code PostgresOutbox}
     */
    Outbox outbox(Inbox inbox);

    /**
     * A handle on a run that exists.
     *
     * @throws UnknownRunException if there is none
     */
    <R extends @Nullable Object> Run<R> run(RunId id, TypeRef<R> resultType);

    /**
     * Sends a message to a run. It is durable when this returns, and kept until the run receives it, in order.
     *
     * @throws UnknownRunException if there is no such run
     * @throws RunEndedException if it has ended
     */
    <T extends @Nullable Object> void send(RunId run, Topic<T> topic, T value);

    /** Sends a message to each of many runs, in few commits. All are tried; then the first refusal is thrown. */
    <T extends @Nullable Object> void sendAll(
            Collection<RunId> runs, Topic<T> topic, Function<RunId, ? extends T> value);

    /** Resolves a promise of each of many runs, in few commits. All are tried; then the first refusal is thrown. */
    <T extends @Nullable Object> void resolveAll(
            Collection<RunId> runs, Topic<T> promise, Function<RunId, ? extends T> value);

    /**
     * Emits an event to every run that waits for it now: with a key ({@code STOCK.key("eu")}) to those that wait for this key or
     * for any, without a key only to those that wait for any.
     *
     * @return how many waiting calls it reached
     */
    <T extends @Nullable Object> int emit(EventTopic<T> topic, T value);

    /**
     * Settles the awakeable with this token.
     *
     * @param value of the type that the workflow asked for; encoded as its own class
     * @throws UnknownTokenException if no awakeable has it
     * @throws AlreadyResolvedException if it is settled already
     * @throws RunEndedException if its run has ended
     */
    void resolve(String token, @Nullable Object value);

    /** Settles the awakeable with this token with a failure: its run gets {@link RejectedException} with the reason. */
    void reject(String token, String reason);

    /** The queues: what waits in them, and their limits. */
    Queues queues();

    /** The schedules: made, looked at and changed at run time. */
    Schedules schedules();

    /** Runs, newest first, a page at a time. */
    List<RunInfo> list(RunFilter filter);

    /**
     * Stops taking runs, lets the steps that run now finish up to the limit set when the engine was built, gives every run
     * back for other workers to continue at once, and ends all threads. Twice is fine.
     */
    @Override
    void close();
}
