package dev.perdure;

import dev.perdure.error.UnknownTokenException;
import dev.perdure.object.ObjectSends;
import dev.perdure.schedule.ScheduleChanges;
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
@SuppressWarnings("overloads") // an exact method reference fits one of them only
public interface Outbox {
    /** Starts a workflow method with an input and a result. */
    <W, I extends @Nullable Object, R extends @Nullable Object> RunId start(
            WorkflowMethod.Function<W, I, R> method, I input, StartOptions options);

    /** Starts a workflow method with an input and no result. */
    <W, I extends @Nullable Object> RunId start(WorkflowMethod.Consumer<W, I> method, I input, StartOptions options);

    /** Starts a run. */
    RunId start(Invocation<?> invocation, StartOptions options);

    /**
     * Starts a run for each item, in one round trip.
     *
     * @param items the items, one for each run
     * @param invocation what to run for an item
     * @param options how to start it
     */
    <T extends @Nullable Object> List<RunId> startAll(
            List<T> items,
            Function<? super T, ? extends Invocation<?>> invocation,
            Function<? super T, StartOptions> options);

    /** Calls of the virtual object of this class and key. */
    <O> ObjectSends<O> object(Class<O> type, String key);

    /** Sends a message to a run. If the run has ended, the worker that applies it drops the message and logs that. */
    <T extends @Nullable Object> void send(RunId run, Topic<T> topic, T value);

    /** Settles a promise of a run. The first answer counts. The worker drops and logs later ones. */
    <T extends @Nullable Object> PromiseResolver<T> promise(RunId run, Topic<T> name);

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

    /**
     * Makes and changes schedules. What is asked of a schedule that does not exist is dropped, and the worker logs
     * that.
     */
    ScheduleChanges schedules();
}
