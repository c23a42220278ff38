package dev.perdure;

import dev.perdure.dag.Dag;
import dev.perdure.error.UnknownTokenException;
import dev.perdure.object.ObjectSends;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Starts, calls, sends, resolves and cancels inside a transaction of the caller's own: what is asked for here happens when that transaction
 * commits, and never if it is rolled back. From {@link Perdure#outbox}; as long-lived and as thread-safe as the
 * transaction it belongs to.
 *
 * <pre>{@code
 * perdure.outbox(outbox.in(connection)).start(Orders::process, order, id("order-42"));
 * }</pre>
 *
 * <p>Nothing is looked up, so that nothing is locked: an id that is taken when the transaction has committed starts
 * nothing, whatever that run does and takes, and a cancel of a run that does not exist does nothing. Both are logged by the
 * worker that finds it out.
 */
public interface Outbox {
    /** Starts a workflow that takes an input and gives a result. */
    <W, I extends @Nullable Object, R extends @Nullable Object> RunId start(
            WorkflowMethod.Function<W, I, R> method, I input, StartOptions options);

    /** Starts a workflow that takes no input. */
    <W, R extends @Nullable Object> RunId start(WorkflowMethod.Supplier<W, R> method, StartOptions options);

    /** Starts a workflow that takes an input and gives nothing. */
    <W, I extends @Nullable Object> RunId startVoid(
            WorkflowMethod.Consumer<W, I> method, I input, StartOptions options);

    /** Starts a workflow that takes nothing and gives nothing. */
    <W> RunId startVoid(WorkflowMethod.Action<W> method, StartOptions options);

    /** Starts a workflow that is a value. */
    <I extends @Nullable Object, R extends @Nullable Object> RunId start(
            Definition<I, R> definition, I input, StartOptions options);

    /** Starts a workflow by its name. */
    RunId start(String definition, @Nullable Object input, StartOptions options);

    /** Starts many runs of one workflow, in one round trip. */
    <W, I extends @Nullable Object, R extends @Nullable Object> List<RunId> startAll(
            WorkflowMethod.Function<W, I, R> method, List<I> inputs, Function<I, StartOptions> options);

    /** Starts many runs of one workflow, in one round trip. */
    <I extends @Nullable Object, R extends @Nullable Object> List<RunId> startAll(
            Definition<I, R> definition, List<I> inputs, Function<I, StartOptions> options);

    /** Starts a graph, with all its tasks. */
    <I extends @Nullable Object, O extends @Nullable Object> RunId start(
            Dag<I, O> graph, I input, StartOptions options);

    /** Starts many runs of one graph, in one round trip. */
    <I extends @Nullable Object, O extends @Nullable Object> List<RunId> startAll(
            Dag<I, O> graph, List<I> inputs, Function<I, StartOptions> options);

    /** Calls of the virtual object of this class and key. */
    <O> ObjectSends<O> object(Class<O> type, String key);

    /** Sends a message to a run. Dropped, and logged by the worker that finds it out, if the run has ended. */
    <T extends @Nullable Object> void send(RunId run, Topic<T> topic, T value);

    /** Resolves a promise of a run. The first answer counts; one that comes later is dropped and logged. */
    <T extends @Nullable Object> void resolve(RunId run, Topic<T> promise, T value);

    /** Rejects a promise of a run. The first answer counts; one that comes later is dropped and logged. */
    void reject(RunId run, Topic<?> promise, String reason);

    /**
     * Resolves the awakeable with this token. The first answer counts; one that comes later is dropped and logged. So is one
     * whose run has begun anew by the time of the commit.
     *
     * @throws UnknownTokenException if no awakeable has it now
     */
    void resolve(String token, @Nullable Object value);

    /**
     * Rejects the awakeable with this token. The first answer counts; one that comes later is dropped and logged.
     *
     * @throws UnknownTokenException if no awakeable has it now
     */
    void reject(String token, String reason);

    /** Cancels a run, as {@link Run#cancel(String)} does. */
    void cancel(RunId run, String reason);
}
