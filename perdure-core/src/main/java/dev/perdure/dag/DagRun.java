package dev.perdure.dag;

import dev.perdure.Run;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.ResultUnavailableException;
import dev.perdure.error.RunActiveException;
import dev.perdure.error.RunFailedException;
import dev.perdure.error.TasksFailedException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A handle on a run of a {@link Dag}. If tasks fail, {@link #result()} throws {@link RunFailedException} when all have ended,
 * and its cause is {@link TasksFailedException}.
 *
 * @param <O> what the run gives
 */
public interface DagRun<O extends @Nullable Object> extends Run<O> {
    /** The run with all its tasks, as it is now. */
    DagStatus status();

    /**
     * Waits until the run has ended, however it ends, and gives what its tasks gave.
     *
     * @throws ResultUnavailableException when it has not ended in time
     */
    Outputs outputs(Duration timeout);

    /**
     * Begins the tasks anew that failed or were cancelled, and all that come after those; the others keep their outputs. The
     * run goes on under the same id.
     *
     * @throws RunActiveException while it has not ended
     * @throws InvalidRequestException if there is no such task
     */
    void retryFailed();

    /**
     * Begins a task anew, and all that come after it; the others keep their outputs. The run goes on under the same id.
     *
     * @throws RunActiveException while it has not ended
     * @throws InvalidRequestException if it has no such task
     */
    void rerun(String task);
}
