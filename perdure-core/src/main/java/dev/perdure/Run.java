package dev.perdure;

import dev.perdure.dag.Dag;
import dev.perdure.dag.DagRun;
import dev.perdure.error.AlreadyResolvedException;
import dev.perdure.error.CancelledException;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.RejectedException;
import dev.perdure.error.ResultUnavailableException;
import dev.perdure.error.RetryRefusedException;
import dev.perdure.error.RunConflictException;
import dev.perdure.error.RunEndedException;
import dev.perdure.error.RunFailedException;
import dev.perdure.report.LogFilter;
import dev.perdure.report.LogPage;
import dev.perdure.report.StepProgress;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A handle to one run. It holds only the id: keep it, or drop it and make it again with
 * {@link Perdure#run(RunId, TypeRef)}. Thread-safe.
 *
 * @param <R> the result of the run
 */
public interface Run<R extends @Nullable Object> {
    /** The run's id. */
    RunId id();

    /** The current state, read from the store. */
    RunState state();

    /** What the store knows about the run, without its payloads. */
    RunInfo info();

    /**
     * Waits until the run has ended and returns its result. While the run is paused, the caller keeps waiting.
     *
     * @throws RunFailedException if it ended without a result
     */
    R result();

    /**
     * {@link #result()} with a timeout.
     *
     * @throws ResultUnavailableException if the run has not ended in time; the run continues
     */
    R result(Duration timeout);

    /**
     * The result if the run has ended, without waiting. Also empty if the run returned {@code null}; {@link #state()}
     * tells the two apart.
     *
     * @throws RunFailedException if it ended without a result
     */
    Optional<R> resultNow();

    /**
     * Sends the run a message. The message is durable when this returns. The store keeps messages in order until the
     * run receives them.
     *
     * @throws RunEndedException if it has ended
     */
    <T extends @Nullable Object> void send(Topic<T> topic, T value);

    /**
     * Resolves one of its awakeables without the token, which the store cannot look up. For operators: audit and
     * {@link #history()} record the operator's name ({@link Perdure#as}).
     *
     * @param position the position of the awakeable in the history
     * @param value the value; the engine encodes it as its own class, and the run must be able to read that as the type
     *     that it waits for
     * @throws InvalidRequestException if the run has no awakeable at that position now
     * @throws AlreadyResolvedException if it is settled already
     * @throws RunEndedException if the run has ended
     */
    void resolveAwakeable(int position, @Nullable Object value);

    /**
     * Rejects one of its awakeables without the token, like {@link #resolveAwakeable}. The run gets
     * {@link RejectedException} with the reason.
     */
    void rejectAwakeable(int position, String reason);

    /** One of its promises. */
    <T extends @Nullable Object> Promise<T> promise(Topic<T> name);

    /** The latest value that the run has published under a topic. Available also after the run has ended. */
    <T> Optional<T> published(Topic<T> topic);

    /**
     * Waits until the run has published a value under a topic, and returns the latest.
     *
     * @throws ResultUnavailableException if it publishes nothing in time, or ends without publishing
     */
    <T> T awaitPublished(Topic<T> topic, Duration timeout);

    /**
     * Iterates over the values that the run publishes under a topic, in order, from after an offset (0 for all) to the
     * end of the run. The iterator waits for values that do not exist yet. You can stop at any time and continue from
     * the last offset, in any process.
     */
    <T extends @Nullable Object> Iterator<Published<T>> follow(Topic<T> topic, long afterOffset);

    /**
     * What those of its steps reported last that have not ended, by position. A step that has reported nothing is not
     * among them.
     */
    List<StepProgress> progress();

    /**
     * What the bodies of its steps have logged, if an appender for the logging library is set up. The store keeps the
     * newest 1,000 lines of a run, and 256 KiB.
     */
    LogPage log(LogFilter filter);

    /**
     * This run as the run of a DAG, with its tasks.
     *
     * @param dag the DAG that it runs: gives the types of the outputs
     * @throws RunConflictException if it runs something else
     */
    <O extends @Nullable Object> DagRun<O> dag(Dag<?, O> dag);

    /** The run's journal and changes of state, oldest first. */
    List<HistoryEvent> history();

    /**
     * The run with its journal and all values, to replay it on other code in a test.
     *
     * @throws InvalidRequestException if its values have more than 64 MiB
     */
    History export();

    /**
     * Cancels the run: its next step, wait or {@code now()} throws {@link CancelledException}, so that the workflow can
     * compensate. A run that has never run ends at once. Has no effect on a run that has ended.
     */
    void cancel(String reason);

    /** Ends the run without letting it compensate. Has no effect on a run that has ended. */
    void kill(String reason);

    /** Stops the run where it is until {@link #resume()}. */
    void pause(String reason);

    /** Lets a paused run continue from its journal. Has no effect on a run that is not paused. */
    void resume();

    /**
     * Lets a run that failed or was cancelled continue from the step that failed, under the same id. What it recorded
     * before stays; the step begins anew, with all its attempts. If the workflow itself threw, it continues behind its
     * last entry, which helps if the code was fixed.
     *
     * @throws RetryRefusedException if something was recorded after the failure, such as a compensation, or another run
     *     has got the outcome. {@link #fork Fork} the run instead
     */
    void retry();

    /**
     * Replaces what a step has recorded, or gives a step that is stuck its outcome. The run is {@link RunState#PAUSED},
     * or it failed or was cancelled and is {@link #retry retried} afterwards: then no worker has its journal in memory.
     * Everything that the run did after the step stays as it is; the code goes over it again with the new answer.
     *
     * @throws InvalidRequestException if the run is in another state, has no step at the position, or has ended and
     *     could not be retried
     */
    void repair(Repair repair);

    /**
     * Starts another run with what this one has recorded before a position, to repair or to debug it. This run stays as
     * it is, in whatever state it is.
     *
     * @throws RetryRefusedException if a {@link Saga} has undone a step before the position, a call before the position has
     *     no answer yet, the run belongs to a DAG or is a call of a virtual object, or a transform encrypts its values and the run changes too often to be copied
     */
    Run<R> fork(ForkOptions options);
}
