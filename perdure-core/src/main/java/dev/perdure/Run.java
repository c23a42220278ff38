package dev.perdure;

import java.time.Duration;
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
