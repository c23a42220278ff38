package dev.perdure;

import dev.perdure.audit.Audits;
import dev.perdure.audit.Operator;
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
import dev.perdure.status.StoreStatus;
import java.util.Collection;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Durable execution inside this process: starts runs, executes them and waits for their results. Any number of engines,
 * in one process or in many, share one store. Thread-safe.
 *
 * <pre>{@code
 * try (var perdure = Perdure.on(store).register(new Orders(payments, shipping)).start()) {
 *     Run<Receipt> run = perdure.start(Orders::process, order, id("order-42"));
 *     Receipt receipt = run.result();
 * }
 * }</pre>
 *
 * <p>A start returns when the run is durable. Starting again with the same id, workflow and input attaches to the
 * existing run. A start with the same id and another workflow or input throws {@link RunConflictException}.
 */
@SuppressWarnings("overloads") // an exact method reference fits one of them only
public interface Perdure extends Operations, AutoCloseable {
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

    /**
     * Starts a DAG with options. The options cannot have messages, because nothing in the run of a DAG receives them.
     */
    <I extends @Nullable Object, O extends @Nullable Object> DagRun<O> start(
            Dag<I, O> dag, I input, StartOptions options);

    /**
     * Starts a run for each item, in few commits. It tries all of them, and then throws the first refusal.
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

    /**
     * A virtual object, by its class, which is marked with {@link VirtualObject}, and its key. You need not create it.
     */
    <O> ObjectHandle<O> object(Class<O> type, String key);

    /**
     * Starts, sends, resolves and cancels inside a transaction of the caller.
     *
     * @param inbox the inbox of that transaction, which the module for its database makes, such as
     *     {@code PostgresOutbox}
     */
    Outbox outbox(Inbox inbox);

    /**
     * Sends a message to a run. The message is durable when this returns. The store keeps messages in order until the
     * run receives them.
     *
     * @throws UnknownRunException if there is no such run
     * @throws RunEndedException if it has ended
     */
    <T extends @Nullable Object> void send(RunId run, Topic<T> topic, T value);

    /**
     * Sends a message to each of many runs, in few commits. It tries all of them, and then throws the first refusal.
     */
    <T extends @Nullable Object> void sendAll(
            Collection<RunId> runs, Topic<T> topic, Function<RunId, ? extends T> value);

    /**
     * Resolves a promise of each of many runs, in few commits. It tries all of them, and then throws the first refusal.
     */
    <T extends @Nullable Object> void resolveAll(
            Collection<RunId> runs, Topic<T> promise, Function<RunId, ? extends T> value);

    /**
     * Emits an event to every run that waits for it now. With a key ({@code STOCK.key("eu")}) it reaches the runs that
     * wait for this key or for any key; without a key, only the runs that wait for any key.
     *
     * @return how many waiting calls it reached
     */
    <T extends @Nullable Object> int emit(EventTopic<T> topic, T value);

    /**
     * Settles the awakeable with this token.
     *
     * @param value the value, of the type that the workflow asked for; the engine encodes it as its own class
     * @throws UnknownTokenException if no awakeable has it
     * @throws AlreadyResolvedException if it is settled already
     * @throws RunEndedException if its run has ended
     */
    void resolve(String token, @Nullable Object value);

    /** Rejects the awakeable with this token: its run gets {@link RejectedException} with the reason. */
    void reject(String token, String reason);

    /**
     * The same operations in the name of an operator, whom the audit records. Commands through the engine itself are
     * recorded under the user of this process ({@link Operator#ofProcess()}).
     *
     * <pre>{@code
     * perdure.as(Operator.named("anna").from(request.address())).run(id, type).cancel("ordered twice");
     * }</pre>
     */
    Operations as(Operator operator);

    /** The audit: who has changed what. */
    Audits audit();

    /** How the store is: its size, what holds it up, what waits, what is wrong and what to do. */
    StoreStatus status();

    /**
     * Closes the engine. It takes no more runs, waits for running steps up to the limit set when the engine was built,
     * gives every run back so that other workers can continue it at once, and ends all threads. Closing it again has no
     * effect.
     */
    @Override
    void close();
}
