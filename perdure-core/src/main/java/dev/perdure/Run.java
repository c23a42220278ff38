package dev.perdure;

import dev.perdure.error.AlreadyResolvedException;
import dev.perdure.error.CancelledException;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.RejectedException;
import dev.perdure.error.ResultUnavailableException;
import dev.perdure.error.RunEndedException;
import dev.perdure.error.RunFailedException;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A handle on one run. Holds nothing but the id: it may be kept, thrown away and made again with
 * {@link Perdure#run(RunId, TypeRef)}. Thread-safe.
 *
 * @param <R> what the run returns
 */
public interface Run<R extends @Nullable Object> {
    /** The run's id. */
    RunId id();

    /** Where it is now. */
    RunState state();

    /** Everything about it but its payloads. */
    RunInfo info();

    /**
     * Waits until the run has ended. A paused run keeps its waiters waiting.
     *
     * @throws RunFailedException when it ended without a result
     */
    R result();

    /**
     * {@link #result()} with a limit to the wait.
     *
     * @throws ResultUnavailableException when the run has not ended by then; it goes on
     */
    R result(Duration timeout);

    /**
     * The result if the run has ended, without waiting. Empty also for a run that returned {@code null}; ask
     * {@link #state()}.
     *
     * @throws RunFailedException when it ended without a result
     */
    Optional<R> resultNow();

    /**
     * Sends it a message. It is durable when this returns, and kept until the run receives it, in order.
     *
     * @throws RunEndedException if it has ended
     */
    <T extends @Nullable Object> void send(Topic<T> topic, T value);

    /**
     * Settles one of its awakeables in place of whoever has the token, which nobody can look up. Who did it is recorded, and
     * is part of the {@link #history()}.
     *
     * @param position of the awakeable, as in the history
     * @param value what it is resolved with; its own class has to be one that the run can read as what it waits for
     * @param operator who does it
     * @throws InvalidRequestException if the run has no awakeable at that position now
     * @throws AlreadyResolvedException if it is settled already
     * @throws RunEndedException if the run has ended
     */
    void resolveAwakeable(int position, @Nullable Object value, String operator);

    /**
     * Settles one of its awakeables with a failure, as {@link #resolveAwakeable} does with a value: the run gets
     * {@link RejectedException} with the reason.
     */
    void rejectAwakeable(int position, String reason, String operator);

    /** One of its promises. */
    <T extends @Nullable Object> Promise<T> promise(Topic<T> name);

    /** The latest value it has published under a topic, during the run or after it. */
    <T> Optional<T> published(Topic<T> topic);

    /**
     * Waits until it has published something under a topic, and gives the latest.
     *
     * @throws ResultUnavailableException when it has not in time, or has ended without
     */
    <T> T awaitPublished(Topic<T> topic, Duration timeout);

    /**
     * Everything it publishes under a topic, in order, from after an offset (0 for all) to the end of the run. The iterator
     * waits for what is not there yet; it can be left at any time, and gone on with from the last offset, in any process.
     */
    <T extends @Nullable Object> Iterator<Published<T>> follow(Topic<T> topic, long afterOffset);

    /** Its journal and its changes of state, oldest first. */
    List<HistoryEvent> history();

    /**
     * Asks the run to end: {@link CancelledException} is thrown at its next step, wait or {@code now()}, so that it can
     * compensate. A run that never ran ends at once. No effect on a run that has ended.
     */
    void cancel(String reason);

    /** Ends the run without letting it compensate. No effect on a run that has ended. */
    void kill(String reason);

    /** Stops the run where it is, until {@link #resume()}. */
    void pause(String reason);

    /** Lets a paused run go on from its journal. No effect on a run that is not paused. */
    void resume();
}
