package dev.perdure.internal.dag;

import dev.perdure.Attempt;
import dev.perdure.RunId;
import dev.perdure.WorkflowContext;
import dev.perdure.dag.FailureContext;
import dev.perdure.dag.TaskError;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What user code can read about the task that it is.
 *
 * @param ctx the context of the task's own run
 * @param runId the run of the DAG
 * @param name the task's name
 * @param input the DAG's input
 * @param errors the tasks that failed, or the first of them, for {@code onFailure}
 * @param failed how many failed
 */
record RunningTask(
        WorkflowContext ctx,
        RunId runId,
        String name,
        @Nullable Object input,
        List<TaskError> errors,
        int failed) implements FailureContext<@Nullable Object> {
    /** A task for which nothing has failed. */
    RunningTask(WorkflowContext ctx, RunId runId, String name, @Nullable Object input) {
        this(ctx, runId, name, input, List.of(), 0);
    }

    @Override
    public Attempt attempt() {
        return ctx.attempt();
    }
}
