package dev.perdure.dag;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Casts what the engine passes to a task to the types of the task's definition. Each value was decoded as the type of
 * the task that returned it, and that task is the parameter, so the casts are safe.
 */
final class TaskCasts {
    private TaskCasts() {}

    @SuppressWarnings("unchecked")
    static <I extends @Nullable Object> TaskContext<I> context(TaskContext<?> task) {
        return (TaskContext<I>) task;
    }

    @SuppressWarnings("unchecked")
    static <I extends @Nullable Object> FailureContext<I> failure(FailureContext<?> task) {
        return (FailureContext<I>) task;
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
