package dev.perdure.dag;

import dev.perdure.WorkflowContext;
import java.io.Serializable;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The code of a task of a {@link Dag} that is a workflow: it uses steps, sleeps and waits of its workflow context. To
 * continue it, the engine runs it again from the top.
 *
 * <p>The output of a task that was skipped is null.
 */
public sealed interface TaskWorkflow extends Serializable {
    /** Of a task that comes after no other task. */
    @FunctionalInterface
    non-sealed interface Root<I extends @Nullable Object, T extends @Nullable Object> extends TaskWorkflow {
        /** Runs, or runs again from the top. */
        T call(WorkflowContext ctx, TaskContext<I> task) throws Exception;
    }

    /** Of a task after one task. */
    @FunctionalInterface
    non-sealed interface Of1<I extends @Nullable Object, A extends @Nullable Object, T extends @Nullable Object>
            extends TaskWorkflow {
        /** Runs, or runs again from the top. */
        T call(WorkflowContext ctx, TaskContext<I> task, A first) throws Exception;
    }

    /** Of a task after two tasks. */
    @FunctionalInterface
    non-sealed interface Of2<
                    I extends @Nullable Object,
                    A extends @Nullable Object,
                    B extends @Nullable Object,
                    T extends @Nullable Object>
            extends TaskWorkflow {
        /** Runs, or runs again from the top. */
        T call(WorkflowContext ctx, TaskContext<I> task, A first, B second) throws Exception;
    }

    /** Of a task after three tasks. */
    @FunctionalInterface
    non-sealed interface Of3<
                    I extends @Nullable Object,
                    A extends @Nullable Object,
                    B extends @Nullable Object,
                    C extends @Nullable Object,
                    T extends @Nullable Object>
            extends TaskWorkflow {
        /** Runs, or runs again from the top. */
        T call(WorkflowContext ctx, TaskContext<I> task, A first, B second, C third) throws Exception;
    }

    /** Of a task after four tasks. */
    @FunctionalInterface
    non-sealed interface Of4<
                    I extends @Nullable Object,
                    A extends @Nullable Object,
                    B extends @Nullable Object,
                    C extends @Nullable Object,
                    D extends @Nullable Object,
                    T extends @Nullable Object>
            extends TaskWorkflow {
        /** Runs, or runs again from the top. */
        T call(WorkflowContext ctx, TaskContext<I> task, A first, B second, C third, D fourth) throws Exception;
    }

    /** Of a task after any number of tasks with the same output type. */
    @FunctionalInterface
    non-sealed interface OfAll<I extends @Nullable Object, A extends @Nullable Object, T extends @Nullable Object>
            extends TaskWorkflow {
        /** Runs, or runs again from the top. The outputs are in the order of the tasks. */
        T call(WorkflowContext ctx, TaskContext<I> task, List<A> outputs) throws Exception;
    }
}
