package dev.perdure;

import dev.perdure.dag.Dag;
import dev.perdure.error.UnknownTokenException;
import dev.perdure.object.ObjectSends;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Starts, calls, sends, resolves and cancels inside the caller's own transaction. The requests take effect when that
 * transaction commits, and never if it rolls back. Get one from {@link Perdure#outbox}. It lives as long, and is as
 * thread-safe, as the transaction that it belongs to.
 *
 * <pre>{@code
 * perdure.outbox(outbox.in(connection)).start(Orders::process, order, id("order-42"));
 * }</pre>
 *
 * <p>An outbox only inserts: it looks up nothing and locks nothing. So a start whose id another run has by the time of
 * the commit starts nothing, whatever the definition and input of that run, and a cancel of an unknown run does
 * nothing. The worker that applies the request logs both.
 */
public interface Outbox {
    /** Starts a workflow that takes an input and returns a result. */
    <W, I extends @Nullable Object, R extends @Nullable Object> RunId start(
            WorkflowMethod.Function<W, I, R> method, I input, StartOptions options);

    /** Starts a workflow that takes no input. */
    <W, R extends @Nullable Object> RunId start(WorkflowMethod.Supplier<W, R> method, StartOptions options);

    /** Starts a workflow that takes an input and returns nothing. */
    <W, I extends @Nullable Object> RunId startVoid(
            WorkflowMethod.Consumer<W, I> method, I input, StartOptions options);

    /** Starts a workflow that takes no input and returns nothing. */
    <W> RunId startVoid(WorkflowMethod.Action<W> method, StartOptions options);

    /** Starts a workflow given as a {@link Definition}. */
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

    /** Sends a message to a run. If the run has ended, the worker that applies it drops the message and logs that. */
    <T extends @Nullable Object> void send(RunId run, Topic<T> topic, T value);

    /** Resolves a promise of a run. The first answer counts. The worker drops and logs later ones. */
    <T extends @Nullable Object> void resolve(RunId run, Topic<T> promise, T value);

    /** Rejects a promise of a run. The first answer counts. The worker drops and logs later ones. */
    void reject(RunId run, Topic<?> promise, String reason);

    /**
     * Resolves the awakeable with this token. The first answer counts. The worker drops and logs later ones, and an
     * answer whose run has begun a new life by the time of the commit.
     *
     * @throws UnknownTokenException if no awakeable has this token now
     */
    void resolve(String token, @Nullable Object value);

    /**
     * Rejects the awakeable with this token. The first answer counts. The worker drops and logs later ones.
     *
     * @throws UnknownTokenException if no awakeable has this token now
     */
    void reject(String token, String reason);

    /** Cancels a run, as {@link Run#cancel(String)} does. */
    void cancel(RunId run, String reason);
}
