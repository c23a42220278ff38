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
 * A handle to a run of a {@link Dag}. If tasks fail, {@link #result()} throws {@link RunFailedException} when all tasks
 * have ended, and its cause is {@link TasksFailedException}.
 *
 * @param <O> what the run gives
 */
public interface DagRun<O extends @Nullable Object> extends Run<O> {
    /** The current status of the run and of all its tasks. */
    DagStatus status();

    /**
     * Waits until the run has ended, whatever its outcome, and returns the outputs of its tasks.
     *
     * @throws ResultUnavailableException if it has not ended in time
     */
    Outputs outputs(Duration timeout);

    /**
     * Runs the tasks again that failed or were cancelled, and all tasks that come after them. The other tasks keep
     * their outputs. The run continues under the same id.
     *
     * @throws RunActiveException if it has not ended
     * @throws InvalidRequestException if there is no such task
     */
    void retryFailed();

    /**
     * Runs a task again, and all tasks that come after it. The other tasks keep their outputs. The run continues under
     * the same id.
     *
     * @throws RunActiveException if it has not ended
     * @throws InvalidRequestException if it has no such task
     */
    void rerun(String task);
}
