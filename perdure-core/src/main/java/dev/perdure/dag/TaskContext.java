package dev.perdure.dag;

import dev.perdure.Attempt;
import dev.perdure.RunId;
import dev.perdure.error.ContextMisuseException;
import org.jspecify.annotations.Nullable;

/**
 * What the code of a task of a {@link Dag} can read. The outputs of other tasks are parameters of the code, so a task
 * can read only the outputs of tasks that it comes after.
 *
 * @param <I> the DAG's input
 */
public interface TaskContext<I extends @Nullable Object> {
    /** The input of the run. */
    I input();

    /** The id of the run of the DAG. */
    RunId runId();

    /** The name of the task. */
    String name();

    /**
     * The current attempt: its number, and an idempotency key that is the same for every attempt of this task.
     *
     * @throws ContextMisuseException if the code has no attempts, because the task is a workflow
     */
    Attempt attempt();
}
