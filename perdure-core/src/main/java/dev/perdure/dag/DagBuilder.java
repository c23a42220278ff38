package dev.perdure.dag;

import dev.perdure.internal.dag.model.DagDraft;
import dev.perdure.internal.dag.model.TaskCode;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Defines the tasks of a {@link Dag}. {@link #task}, {@link #run}, {@link #workflow} and {@link #runWorkflow} add a
 * task that comes after no other task. {@code after(…)} has the same four methods for a task that comes after others,
 * and {@link #forEach forEach(…)} for a task that runs for each item of a list. The names with <em>run</em> are for
 * code that returns nothing.
 *
 * @param <I> the input of a run
 */
public final class DagBuilder<I extends @Nullable Object> {
    private final DagDraft dag;
    private final TaskDefiner tasks;

    DagBuilder(DagDraft dag) {
        this.dag = dag;
        this.tasks = TaskDefiner.after(dag, List.of());
    }

    // ---- tasks

    /** A task whose output is what the code returns. */
    public <T extends @Nullable Object> NewTask<T, TaskBody.Root<I, Boolean>> task(
            String name, TaskBody.Root<I, T> body) {
        return new NewTask<>(tasks.returning(name, body, code(body)), DagBuilder::code);
    }

    /** A task without an output. */
    public NewTask<@Nullable Void, TaskBody.Root<I, Boolean>> run(String name, TaskAction.Root<I> action) {
        return new NewTask<>(
                tasks.returningNothing(name, action, (task, outputs) -> {
                    action.run(TaskCasts.context(task));
                    return null;
                }),
                DagBuilder::code);
    }

    /** A task that is a workflow; its output is what the workflow returns. */
    public <T extends @Nullable Object> NewTask<T, TaskBody.Root<I, Boolean>> workflow(
            String name, TaskWorkflow.Root<I, T> body) {
        return new NewTask<>(
                tasks.returning(name, body, (ctx, task, outputs) -> body.call(ctx, TaskCasts.context(task))),
                DagBuilder::code);
    }

    /** A task that is a workflow, without an output. */
    public NewTask<@Nullable Void, TaskBody.Root<I, Boolean>> runWorkflow(String name, TaskRoutine.Root<I> routine) {
        return new NewTask<>(
                tasks.returningNothing(name, routine, (ctx, task, outputs) -> {
                    routine.run(ctx, TaskCasts.context(task));
                    return null;
                }),
                DagBuilder::code);
    }

    private static <I extends @Nullable Object> TaskCode.Body code(TaskBody.Root<I, ?> body) {
        return (task, outputs) -> body.call(TaskCasts.context(task));
    }

    // ---- after other tasks

    /** For a task that comes after one other task and gets its output. */
    public <A extends @Nullable Object> After.Of1<I, A> after(DagTask<A> first) {
        return new After.Of1<>(TaskDefiner.after(dag, Arrays.asList(first)));
    }

    /** For a task that comes after two other tasks and gets their outputs. */
    public <A extends @Nullable Object, B extends @Nullable Object> After.Of2<I, A, B> after(
            DagTask<A> first, DagTask<B> second) {
        return new After.Of2<>(TaskDefiner.after(dag, Arrays.asList(first, second)));
    }

    /** For a task that comes after three other tasks and gets their outputs. */
    public <A extends @Nullable Object, B extends @Nullable Object, C extends @Nullable Object>
            After.Of3<I, A, B, C> after(DagTask<A> first, DagTask<B> second, DagTask<C> third) {
        return new After.Of3<>(TaskDefiner.after(dag, Arrays.asList(first, second, third)));
    }

    /** For a task that comes after four other tasks and gets their outputs. */
    public <
                    A extends @Nullable Object,
                    B extends @Nullable Object,
                    C extends @Nullable Object,
                    D extends @Nullable Object>
            After.Of4<I, A, B, C, D> after(DagTask<A> first, DagTask<B> second, DagTask<C> third, DagTask<D> fourth) {
        return new After.Of4<>(TaskDefiner.after(dag, Arrays.asList(first, second, third, fourth)));
    }

    /**
     * For a task that comes after any number of other tasks with the same output type and gets the list of their
     * outputs.
     */
    public <A extends @Nullable Object> After.OfAll<I, A> after(List<? extends DagTask<? extends A>> others) {
        return new After.OfAll<>(TaskDefiner.after(dag, others));
    }

    /** For a task that runs for each item of the list that another task returns. */
    public <E extends @Nullable Object> ForEach<I, E> forEach(DagTask<List<E>> items) {
        return new ForEach<>(TaskDefiner.forEach(dag, items));
    }

    // ---- handlers

    /**
     * What to do when a run has failed.
     *
     * @param <I> the input of the run
     */
    @FunctionalInterface
    public interface FailureHandler<I extends @Nullable Object> {
        /** Does it. */
        void run(FailureContext<I> task) throws Exception;
    }

    /**
     * Runs once when at least one task has failed and all tasks have ended. It does not run when the run was only
     * cancelled. If it fails itself, the outcome of the run says so.
     */
    public void onFailure(FailureHandler<I> handler) {
        dag.requireGiven("the handler passed to onFailure(…)", handler);
        dag.onFailure(context -> handler.run(TaskCasts.failure(context)));
    }

    /**
     * Runs once when all tasks have ended, none has failed and none was cancelled. If it fails itself, the run fails.
     */
    public void onSuccess(TaskAction.Root<I> handler) {
        dag.requireGiven("the handler passed to onSuccess(…)", handler);
        dag.onSuccess(context -> handler.run(TaskCasts.context(context)));
    }
}
