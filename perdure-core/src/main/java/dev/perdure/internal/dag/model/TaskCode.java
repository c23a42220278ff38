package dev.perdure.internal.dag.model;

import dev.perdure.WorkflowContext;
import dev.perdure.dag.TaskContext;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The code that the user wrote for a task. The parameters come as a list, whatever their number. */
public sealed interface TaskCode {
    /** Code that runs as a single step. */
    @FunctionalInterface
    non-sealed interface Body extends TaskCode {
        /** Calls it with the outputs of the task's parents. */
        @Nullable
        Object call(TaskContext<?> task, List<?> outputs) throws Exception;
    }

    /** Code that is a workflow. */
    @FunctionalInterface
    non-sealed interface Workflow extends TaskCode {
        /** Calls it with the outputs of the task's parents. */
        @Nullable
        Object call(WorkflowContext ctx, TaskContext<?> task, List<?> outputs) throws Exception;
    }
}
