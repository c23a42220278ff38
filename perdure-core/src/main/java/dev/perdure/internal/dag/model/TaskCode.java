package dev.perdure.internal.dag.model;

import dev.perdure.WorkflowContext;
import dev.perdure.dag.TaskContext;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What the user wrote for a task, whatever the number of its parameters: their values come as a list. */
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
