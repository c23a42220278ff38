package dev.perdure.dag;

import dev.perdure.Attempt;
import dev.perdure.RunId;
import dev.perdure.error.ContextMisuseException;
import org.jspecify.annotations.Nullable;

/**
 * What a task of a {@link Dag} can know. What other tasks gave comes as parameters, so that only the output of a task it
 * comes after can be read.
 *
 * @param <I> the DAG's input
 */
public interface TaskContext<I extends @Nullable Object> {
    /** What the run was started with. */
    I input();

    /** The run of the DAG. */
    RunId runId();

    /** The task's name. */
    String name();

    /**
     * The attempt that runs now: its number, and an idempotency key that is the same for every attempt of this task.
     *
     * @throws ContextMisuseException outside a body that has attempts, such as a task that is a durable function
     */
    Attempt attempt();
}
