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
import dev.perdure.spi.Inbox;
import dev.perdure.spi.Store;
import java.util.Collection;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Durable execution inside this process: starts runs, carries them on, waits for their results. Any number of engines,
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
public interface Perdure extends AutoCloseable {
    /** Begins to set up an engine on a store. */
    static PerdureBuilder on(Store store) {
        return new PerdureBuilder(store);
    }

    /** Starts a workflow that takes an input and gives a result. */
    <W, I extends @Nullable Object, R extends @Nullable Object> Run<R> start(
            WorkflowMethod.Function<W, I, R> method, I input);

    /** Starts a workflow that takes an input and gives a result, with options. */
    <W, I extends @Nullable Object, R extends @Nullable Object> Run<R> start(
            WorkflowMethod.Function<W, I, R> method, I input, StartOptions options);

    /** Starts a workflow that takes no input. */
    <W, R extends @Nullable Object> Run<R> start(WorkflowMethod.Supplier<W, R> method);

    /** Starts a workflow that takes no input, with options. */
    <W, R extends @Nullable Object> Run<R> start(WorkflowMethod.Supplier<W, R> method, StartOptions options);

    /** Starts a workflow that takes an input and gives nothing. */
    <W, I extends @Nullable Object> Run<@Nullable Void> startVoid(WorkflowMethod.Consumer<W, I> method, I input);

    /** Starts a workflow that takes an input and gives nothing, with options. */
    <W, I extends @Nullable Object> Run<@Nullable Void> startVoid(
            WorkflowMethod.Consumer<W, I> method, I input, StartOptions options);

    /** Starts a workflow that takes nothing and gives nothing. */
    <W> Run<@Nullable Void> startVoid(WorkflowMethod.Action<W> method);

    /** Starts a workflow that takes nothing and gives nothing, with options. */
    <W> Run<@Nullable Void> startVoid(WorkflowMethod.Action<W> method, StartOptions options);

    /** Starts a workflow that is a value. */
    <I extends @Nullable Object, R extends @Nullable Object> Run<R> start(Definition<I, R> definition, I input);

    /** Starts a workflow that is a value, with options. */
    <I extends @Nullable Object, R extends @Nullable Object> Run<R> start(
            Definition<I, R> definition, I input, StartOptions options);

    /**
     * Starts a workflow by its name. A definition that is not registered here is left to a worker that has it.
     *
     * @param input encoded as its own class
     */
    <R extends @Nullable Object> Run<R> start(
            String definition, @Nullable Object input, TypeRef<R> resultType, StartOptions options);

    /** Starts many runs of one workflow, in few commits. */
    <W, I extends @Nullable Object, R extends @Nullable Object> List<Run<R>> startAll(
            WorkflowMethod.Function<W, I, R> method, List<I> inputs, Function<I, StartOptions> options);

    /** Starts many runs of one workflow, in few commits. */
    <I extends @Nullable Object, R extends @Nullable Object> List<Run<R>> startAll(
            Definition<I, R> definition, List<I> inputs, Function<I, StartOptions> options);

    /** Starts a graph: all its tasks are durable when this returns. */
    <I extends @Nullable Object, O extends @Nullable Object> DagRun<O> start(Dag<I, O> dag, I input);

    /** Starts a graph with options. It takes no message: nothing in the run of a graph receives any. */
    <I extends @Nullable Object, O extends @Nullable Object> DagRun<O> start(
            Dag<I, O> dag, I input, StartOptions options);

    /** Starts many runs of one graph, in few commits. */
    <I extends @Nullable Object, O extends @Nullable Object> List<DagRun<O>> startAll(
            Dag<I, O> dag, List<I> inputs, Function<I, StartOptions> options);

    /**
     * A handle on a run of a graph that exists.
     *
     * @param dag what its outputs are read by
     * @throws UnknownRunException if there is none
     * @throws RunConflictException if it is not a run of a graph of that name
     */
    <O extends @Nullable Object> DagRun<O> graph(RunId id, Dag<?, O> dag);

    /** A virtual object, by the class that is marked as {@link VirtualObject} and its key. It needs not be made before. */
    <O> ObjectHandle<O> object(Class<O> type, String key);

    /**
     * Starts and cancels inside a transaction of the caller's own.
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

    /** Emits an event without a key to every run that waits for it now and named none; says how many it reached. */
    <T extends @Nullable Object> int emit(Topic<T> event, T value);

    /** Emits an event to every run that waits for it now with this key or without one; says how many it reached. */
    <T extends @Nullable Object> int emit(Topic<T> event, String key, T value);

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

    /** Runs, newest first, a page at a time. */
    List<RunInfo> list(RunFilter filter);

    /**
     * Stops taking runs, lets the steps that run now finish up to the limit set when the engine was built, gives every run
     * back for others to carry on at once, and ends all threads. Twice is fine.
     */
    @Override
    void close();
}
