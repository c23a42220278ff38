package dev.perdure.dag;

import dev.perdure.internal.dag.model.TaskCode;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The list that a task returns, for a new task that runs for each of its items: {@code dag.forEach(lines)}. Each item
 * is a run of its own, and the item is the parameter of the code.
 *
 * <pre>{@code
 * var reserved = dag.forEach(lines).task("reserve", (task, line) -> reserve(line)).parallelism(5).retry(3);
 * }</pre>
 *
 * <p>If the list is empty, the output is an empty list. A condition gets the whole list.
 *
 * @param <I> the input of the DAG
 * @param <E> an item
 */
public final class ForEach<I extends @Nullable Object, E extends @Nullable Object> {
    private final TaskDefiner items;

    ForEach(TaskDefiner items) {
        this.items = items;
    }

    /** A task whose output is the list of what the code returns for each item. */
    public <T extends @Nullable Object> NewForEach<T, TaskBody.Of1<I, List<E>, Boolean>> task(
            String name, TaskBody.Of1<I, E, T> body) {
        return new NewForEach<>(items.returning(name, body, code(body)), ForEach::code);
    }

    /** A task whose code returns nothing. Its output is a list with one null per item. */
    public NewForEach<@Nullable Void, TaskBody.Of1<I, List<E>, Boolean>> run(String name, TaskAction.Of1<I, E> action) {
        return new NewForEach<>(
                items.returningNothing(name, action, (task, outputs) -> {
                    action.run(TaskCasts.context(task), TaskCasts.output(outputs, 0));
                    return null;
                }),
                ForEach::code);
    }

    /** A workflow for each item; the output is the list of what the workflows return. */
    public <T extends @Nullable Object> NewForEach<T, TaskBody.Of1<I, List<E>, Boolean>> workflow(
            String name, TaskWorkflow.Of1<I, E, T> body) {
        return new NewForEach<>(
                items.returning(
                        name,
                        body,
                        (ctx, task, outputs) -> body.call(ctx, TaskCasts.context(task), TaskCasts.output(outputs, 0))),
                ForEach::code);
    }

    /** A workflow for each item that returns nothing. The output is a list with one null per item. */
    public NewForEach<@Nullable Void, TaskBody.Of1<I, List<E>, Boolean>> runWorkflow(
            String name, TaskRoutine.Of1<I, E> routine) {
        return new NewForEach<>(
                items.returningNothing(name, routine, (ctx, task, outputs) -> {
                    routine.run(ctx, TaskCasts.context(task), TaskCasts.output(outputs, 0));
                    return null;
                }),
                ForEach::code);
    }

    private static <I extends @Nullable Object, E extends @Nullable Object> TaskCode.Body code(
            TaskBody.Of1<I, E, ?> body) {
        return (task, outputs) -> body.call(TaskCasts.context(task), TaskCasts.output(outputs, 0));
    }
}
