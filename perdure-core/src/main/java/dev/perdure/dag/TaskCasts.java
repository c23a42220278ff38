package dev.perdure.dag;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Takes what the engine hands a task for what the task's definition says it is. Each value was read back as the type of the
 * task that gave it, and that task is the parameter: so the casts hold.
 */
final class TaskCasts {
    private TaskCasts() {}

    @SuppressWarnings("unchecked")
    static <I extends @Nullable Object> TaskContext<I> context(TaskContext<?> task) {
        return (TaskContext<I>) task;
    }

    @SuppressWarnings({"unchecked", "NullAway", "TypeParameterUnusedInFormals"})
    static <A extends @Nullable Object> A output(List<?> outputs, int place) {
        return (A) outputs.get(place);
    }

    @SuppressWarnings("unchecked")
    static <A extends @Nullable Object> List<A> outputs(List<?> outputs) {
        return (List<A>) outputs;
    }
}
