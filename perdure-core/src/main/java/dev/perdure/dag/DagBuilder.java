package dev.perdure.dag;

import dev.perdure.Definition;
import dev.perdure.error.DefinitionException;
import dev.perdure.internal.text.Names;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Defines the tasks of a {@link Dag}. A task is given those it comes after; their outputs are its parameters.
 *
 * @param <I> what a run takes
 */
public final class DagBuilder<I extends @Nullable Object> {
    /** How many items a map works on at a time, unless said otherwise. */
    public static final int DEFAULT_PARALLELISM = 100;

    static final String ON_FAILURE = "onFailure";
    static final String ON_SUCCESS = "onSuccess";

    private final String graph;
    private final Map<String, TaskDraft> tasks = new LinkedHashMap<>();
    private @Nullable FailureHandler<I> onFailure;
    private @Nullable SuccessHandler<I> onSuccess;
    private boolean defined;

    DagBuilder(String graph) {
        this.graph = graph;
    }

    // ---- tasks

    /** A task that begins at once. */
    public <T extends @Nullable Object> NewTask<T, TaskCondition.Root<I>> task(String name, TaskBody.Root<I, T> body) {
        return new NewTask<>(plain(name, List.of(), body));
    }

    /** A task after one other. */
    public <A extends @Nullable Object, T extends @Nullable Object> NewTask<T, TaskCondition.Of1<I, A>> task(
            String name, DagTask<A> first, TaskBody.Of1<I, A, T> body) {
        return new NewTask<>(plain(name, List.of(first), body));
    }

    /** A task after two others. */
    public <A extends @Nullable Object, B extends @Nullable Object, T extends @Nullable Object>
            NewTask<T, TaskCondition.Of2<I, A, B>> task(
                    String name, DagTask<A> first, DagTask<B> second, TaskBody.Of2<I, A, B, T> body) {
        return new NewTask<>(plain(name, List.of(first, second), body));
    }

    /** A task after three others. */
    public <
                    A extends @Nullable Object,
                    B extends @Nullable Object,
                    C extends @Nullable Object,
                    T extends @Nullable Object>
            NewTask<T, TaskCondition.Of3<I, A, B, C>> task(
                    String name,
                    DagTask<A> first,
                    DagTask<B> second,
                    DagTask<C> third,
                    TaskBody.Of3<I, A, B, C, T> body) {
        return new NewTask<>(plain(name, List.of(first, second, third), body));
    }

    /** A task after four others. */
    public <
                    A extends @Nullable Object,
                    B extends @Nullable Object,
                    C extends @Nullable Object,
                    D extends @Nullable Object,
                    T extends @Nullable Object>
            NewTask<T, TaskCondition.Of4<I, A, B, C, D>> task(
                    String name,
                    DagTask<A> first,
                    DagTask<B> second,
                    DagTask<C> third,
                    DagTask<D> fourth,
                    TaskBody.Of4<I, A, B, C, D, T> body) {
        return new NewTask<>(plain(name, List.of(first, second, third, fourth), body));
    }

    /** A task after any number of others that give the same. */
    public <A extends @Nullable Object, T extends @Nullable Object> NewTask<T, TaskCondition.OfAll<I, A>> task(
            String name, List<? extends DagTask<? extends A>> parents, TaskBody.OfAll<I, A, T> body) {
        return new NewTask<>(plain(name, parents, body));
    }

    // ---- tasks that give nothing

    /** A task that begins at once and gives nothing. */
    public NewTask<@Nullable Void, TaskCondition.Root<I>> run(String name, TaskAction.Root<I> action) {
        return action(name, List.of(), action);
    }

    /** A task after another that gives nothing. */
    public <A extends @Nullable Object> NewTask<@Nullable Void, TaskCondition.Of1<I, A>> run(
            String name, DagTask<A> first, TaskAction.Of1<I, A> action) {
        return action(name, List.of(first), action);
    }

    /** A task after two others that gives nothing. */
    public <A extends @Nullable Object, B extends @Nullable Object>
            NewTask<@Nullable Void, TaskCondition.Of2<I, A, B>> run(
                    String name, DagTask<A> first, DagTask<B> second, TaskAction.Of2<I, A, B> action) {
        return action(name, List.of(first, second), action);
    }

    /** A task after three others that gives nothing. */
    public <A extends @Nullable Object, B extends @Nullable Object, C extends @Nullable Object>
            NewTask<@Nullable Void, TaskCondition.Of3<I, A, B, C>> run(
                    String name,
                    DagTask<A> first,
                    DagTask<B> second,
                    DagTask<C> third,
                    TaskAction.Of3<I, A, B, C> action) {
        return action(name, List.of(first, second, third), action);
    }

    /** A task after four others that gives nothing. */
    public <
                    A extends @Nullable Object,
                    B extends @Nullable Object,
                    C extends @Nullable Object,
                    D extends @Nullable Object>
            NewTask<@Nullable Void, TaskCondition.Of4<I, A, B, C, D>> run(
                    String name,
                    DagTask<A> first,
                    DagTask<B> second,
                    DagTask<C> third,
                    DagTask<D> fourth,
                    TaskAction.Of4<I, A, B, C, D> action) {
        return action(name, List.of(first, second, third, fourth), action);
    }

    /** A task after any number of others that give the same; it gives nothing itself. */
    public <A extends @Nullable Object> NewTask<@Nullable Void, TaskCondition.OfAll<I, A>> run(
            String name, List<? extends DagTask<? extends A>> parents, TaskAction.OfAll<I, A> action) {
        return action(name, parents, action);
    }

    private <C extends TaskCondition> NewTask<@Nullable Void, C> action(
            String name, List<? extends DagTask<?>> parents, TaskAction action) {
        return nothing(plain(name, parents, action));
    }

    private static <C extends TaskCondition> NewTask<@Nullable Void, C> nothing(TaskDraft draft) {
        draft.type(void.class);
        return new NewTask<>(draft);
    }

    // ---- durable functions

    /** A durable function that begins at once. */
    public <T extends @Nullable Object> NewTask<T, TaskCondition.Root<I>> workflow(
            String name, TaskWorkflow.Root<I, T> body) {
        return new NewTask<>(durable(name, List.of(), body));
    }

    /** A durable function after one other task. */
    public <A extends @Nullable Object, T extends @Nullable Object> NewTask<T, TaskCondition.Of1<I, A>> workflow(
            String name, DagTask<A> first, TaskWorkflow.Of1<I, A, T> body) {
        return new NewTask<>(durable(name, List.of(first), body));
    }

    /** A durable function after two other tasks. */
    public <A extends @Nullable Object, B extends @Nullable Object, T extends @Nullable Object>
            NewTask<T, TaskCondition.Of2<I, A, B>> workflow(
                    String name, DagTask<A> first, DagTask<B> second, TaskWorkflow.Of2<I, A, B, T> body) {
        return new NewTask<>(durable(name, List.of(first, second), body));
    }

    /** A durable function after three other tasks. */
    public <
                    A extends @Nullable Object,
                    B extends @Nullable Object,
                    C extends @Nullable Object,
                    T extends @Nullable Object>
            NewTask<T, TaskCondition.Of3<I, A, B, C>> workflow(
                    String name,
                    DagTask<A> first,
                    DagTask<B> second,
                    DagTask<C> third,
                    TaskWorkflow.Of3<I, A, B, C, T> body) {
        return new NewTask<>(durable(name, List.of(first, second, third), body));
    }

    /** A durable function after four other tasks. */
    public <
                    A extends @Nullable Object,
                    B extends @Nullable Object,
                    C extends @Nullable Object,
                    D extends @Nullable Object,
                    T extends @Nullable Object>
            NewTask<T, TaskCondition.Of4<I, A, B, C, D>> workflow(
                    String name,
                    DagTask<A> first,
                    DagTask<B> second,
                    DagTask<C> third,
                    DagTask<D> fourth,
                    TaskWorkflow.Of4<I, A, B, C, D, T> body) {
        return new NewTask<>(durable(name, List.of(first, second, third, fourth), body));
    }

    /** A durable function after any number of other tasks that give the same. */
    public <A extends @Nullable Object, T extends @Nullable Object> NewTask<T, TaskCondition.OfAll<I, A>> workflow(
            String name, List<? extends DagTask<? extends A>> parents, TaskWorkflow.OfAll<I, A, T> body) {
        return new NewTask<>(durable(name, parents, body));
    }

    // ---- durable functions that give nothing

    /** A durable function that begins at once and gives nothing. */
    public NewTask<@Nullable Void, TaskCondition.Root<I>> runWorkflow(String name, TaskRoutine.Root<I> routine) {
        return routine(name, List.of(), routine);
    }

    /** A durable function after another task that gives nothing. */
    public <A extends @Nullable Object> NewTask<@Nullable Void, TaskCondition.Of1<I, A>> runWorkflow(
            String name, DagTask<A> first, TaskRoutine.Of1<I, A> routine) {
        return routine(name, List.of(first), routine);
    }

    /** A durable function after two other tasks that gives nothing. */
    public <A extends @Nullable Object, B extends @Nullable Object>
            NewTask<@Nullable Void, TaskCondition.Of2<I, A, B>> runWorkflow(
                    String name, DagTask<A> first, DagTask<B> second, TaskRoutine.Of2<I, A, B> routine) {
        return routine(name, List.of(first, second), routine);
    }

    /** A durable function after three other tasks that gives nothing. */
    public <A extends @Nullable Object, B extends @Nullable Object, C extends @Nullable Object>
            NewTask<@Nullable Void, TaskCondition.Of3<I, A, B, C>> runWorkflow(
                    String name,
                    DagTask<A> first,
                    DagTask<B> second,
                    DagTask<C> third,
                    TaskRoutine.Of3<I, A, B, C> routine) {
        return routine(name, List.of(first, second, third), routine);
    }

    /** A durable function after four other tasks that gives nothing. */
    public <
                    A extends @Nullable Object,
                    B extends @Nullable Object,
                    C extends @Nullable Object,
                    D extends @Nullable Object>
            NewTask<@Nullable Void, TaskCondition.Of4<I, A, B, C, D>> runWorkflow(
                    String name,
                    DagTask<A> first,
                    DagTask<B> second,
                    DagTask<C> third,
                    DagTask<D> fourth,
                    TaskRoutine.Of4<I, A, B, C, D> routine) {
        return routine(name, List.of(first, second, third, fourth), routine);
    }

    /** A durable function after any number of other tasks that give the same; it gives nothing itself. */
    public <A extends @Nullable Object> NewTask<@Nullable Void, TaskCondition.OfAll<I, A>> runWorkflow(
            String name, List<? extends DagTask<? extends A>> parents, TaskRoutine.OfAll<I, A> routine) {
        return routine(name, parents, routine);
    }

    private <C extends TaskCondition> NewTask<@Nullable Void, C> routine(
            String name, List<? extends DagTask<?>> parents, TaskRoutine routine) {
        return nothing(durable(name, parents, routine));
    }

    // ---- maps

    /** Does the same for each item of the list that a task gives, and gives the results in the order of the items. */
    public <E extends @Nullable Object, T extends @Nullable Object> NewMap<T, TaskCondition.Of1<I, List<E>>> map(
            String name, DagTask<List<E>> items, TaskBody.Of1<I, E, T> body) {
        return new NewMap<>(add(name, List.of(items), new TaskSpec.Mapped(body, DEFAULT_PARALLELISM, false)));
    }

    /** Does the same for each item of the list that a task gives. It gives a list of as many nulls as there were items. */
    public <E extends @Nullable Object> NewMap<@Nullable Void, TaskCondition.Of1<I, List<E>>> runEach(
            String name, DagTask<List<E>> items, TaskAction.Of1<I, E> action) {
        return new NewMap<>(add(name, List.of(items), new TaskSpec.Mapped(action, DEFAULT_PARALLELISM, false)));
    }

    // ---- handlers

    /**
     * What to do when a run has failed.
     *
     * @param <I> what a run takes
     */
    @FunctionalInterface
    public interface FailureHandler<I extends @Nullable Object> {
        /** Does it. */
        void run(FailureContext<I> task) throws Exception;
    }

    /**
     * What to do when a run has succeeded.
     *
     * @param <I> what a run takes
     */
    @FunctionalInterface
    public interface SuccessHandler<I extends @Nullable Object> {
        /** Does it. */
        void run(TaskContext<I> task) throws Exception;
    }

    /**
     * Runs once when a task has failed and all have ended; not when the run was only cancelled. If it fails itself, that is
     * said in the run's outcome.
     */
    public void onFailure(FailureHandler<I> handler) {
        requireOpen(ON_FAILURE);
        if (onFailure != null) {
            throw refuse("onFailure was given twice. Do both in one.");
        }
        onFailure = handler;
    }

    /** Runs once when all tasks have ended and none failed or was cancelled. If it fails itself, so does the run. */
    public void onSuccess(SuccessHandler<I> handler) {
        requireOpen(ON_SUCCESS);
        if (onSuccess != null) {
            throw refuse("onSuccess was given twice. Do both in one.");
        }
        onSuccess = handler;
    }

    Optional<FailureHandler<I>> onFailure() {
        return Optional.ofNullable(onFailure);
    }

    Optional<SuccessHandler<I>> onSuccess() {
        return Optional.ofNullable(onSuccess);
    }

    // ---- what is checked

    private TaskDraft plain(String name, List<? extends DagTask<?>> parents, TaskBody body) {
        return add(name, parents, new TaskSpec.Plain(body));
    }

    private TaskDraft durable(String name, List<? extends DagTask<?>> parents, TaskWorkflow body) {
        return add(name, parents, new TaskSpec.Durable(body));
    }

    private TaskDraft add(String name, List<? extends DagTask<?>> parents, TaskSpec.Work work) {
        requireOpen(name);
        requireName("task name", name);
        if (name.indexOf('/') >= 0) {
            throw refuse("the task name '%s' holds a '/', which parts the names of runs. Use another character."
                    .formatted(name));
        }
        if (name.equals(ON_FAILURE) || name.equals(ON_SUCCESS)) {
            throw refuse(
                    "a task cannot be called '%s'. Write dag.%s(…), or give it another name.".formatted(name, name));
        }
        TaskDraft draft = new TaskDraft(this, name, parents, work);
        if (tasks.putIfAbsent(name, draft) != null) {
            throw refuse("two tasks are called '%s'. Give one of them another name.".formatted(name));
        }
        return draft;
    }

    /** A task is stored under the names of both with a mark between, and an item of a map with a mark behind. */
    String requireName(String what, String name) {
        return Names.require(what, name, Definition.MAX_NAME_LENGTH - graph.length() - 2);
    }

    void requireOpen(String task) {
        if (defined) {
            throw refuse(
                    "'%s' was changed after the graph was defined. Say everything inside the function given to Dag.of."
                            .formatted(task));
        }
    }

    TaskDraft own(@Nullable DagTask<?> task, String use) {
        if (!(task instanceof NewTask<?, ?> known)) {
            throw refuse(use + " null. Give a task of this graph.");
        }
        DagBuilder<?> owner = known.draft().graph();
        if (owner != this) {
            throw refuse("%s '%s', which is a task of another definition, of graph '%s'. Give a task of this one."
                    .formatted(use, task.name(), owner.graph));
        }
        return known.draft();
    }

    DefinitionException refuse(String why) {
        return new DefinitionException("Graph '%s' cannot be defined: %s".formatted(graph, why));
    }

    /** The tasks, each after all it comes after. Nothing can be changed any more. */
    List<TaskSpec> finish() {
        defined = true;
        if (tasks.isEmpty()) {
            throw refuse("it has no tasks. Define at least one with dag.task(…).");
        }
        List<TaskSpec> specs = new ArrayList<>();
        tasks.values().forEach(draft -> specs.add(draft.spec()));
        return new TaskOrder(this::refuse).of(specs);
    }
}
