package dev.perdure.internal.dag.model;

import dev.perdure.Definition;
import dev.perdure.dag.Dag;
import dev.perdure.error.DefinitionException;
import dev.perdure.internal.text.Names;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A DAG while it is being defined: collects its tasks and refuses what cannot be a DAG. */
public final class DagDraft {
    /** The name of what runs when a task has failed. */
    public static final String ON_FAILURE = "onFailure";

    /** The name of what runs when no task has failed or was cancelled. */
    public static final String ON_SUCCESS = "onSuccess";

    private final String name;
    private final Map<String, TaskDraft> tasks = new LinkedHashMap<>();
    private @Nullable HandlerCode onFailure;
    private @Nullable HandlerCode onSuccess;
    private boolean defined;

    /** Begins a DAG of this name. */
    public DagDraft(String name) {
        this.name = Names.require("DAG name", name, Dag.MAX_NAME_LENGTH);
    }

    /** Adds a task after these parents, whose outputs it gets. */
    public TaskDraft add(String task, List<TaskDraft> parents, TaskSpec.Work work, TaskSpec.Result result) {
        requireOpen(task);
        requireName("task name", task);
        if (task.indexOf('/') >= 0) {
            throw refuse(
                    "the task name '%s' contains a '/', which separates the parts of a run id. Use another character."
                            .formatted(task));
        }
        if (task.equals(ON_FAILURE) || task.equals(ON_SUCCESS)) {
            throw refuse("a task cannot be called '%s'. Use dag.%s(…), or give the task another name."
                    .formatted(task, task));
        }
        TaskDraft draft = new TaskDraft(this, task, parents, work, result);
        if (tasks.putIfAbsent(task, draft) != null) {
            throw refuse("two tasks are called '%s'. Give one of them another name.".formatted(task));
        }
        return draft;
    }

    /** Sets what runs when a task has failed. */
    public void onFailure(HandlerCode handler) {
        requireOnce(ON_FAILURE, onFailure);
        onFailure = handler;
    }

    /** Sets what runs when no task has failed or was cancelled. */
    public void onSuccess(HandlerCode handler) {
        requireOnce(ON_SUCCESS, onSuccess);
        onSuccess = handler;
    }

    private void requireOnce(String handler, @Nullable HandlerCode before) {
        requireOpen(handler);
        if (before != null) {
            throw refuse("%s was called twice. Do both in one function.".formatted(handler));
        }
    }

    /**
     * The draft itself, if it is one of this DAG.
     *
     * @param use what the task is used for: the beginning of the message if it is refused
     */
    public TaskDraft requireOwn(@Nullable TaskDraft task, String use) {
        if (task == null) {
            throw refuse(use + " null. Pass a task of this DAG.");
        }
        if (task.dag() != this) {
            throw refuse("%s '%s', which is a task of another definition, of DAG '%s'. Pass a task of this DAG."
                    .formatted(use, task.name(), task.dag().name));
        }
        return task;
    }

    /** Refuses a null, which callers without a null checker can pass. */
    public void requireGiven(String what, @Nullable Object argument) {
        if (argument == null) {
            throw refuse(what + " is null. Pass one, or leave the call out.");
        }
    }

    /** The store keeps a task under both names with a mark between them, and an item with a mark after them. */
    String requireName(String what, String text) {
        return Names.require(what, text, Definition.MAX_NAME_LENGTH - name.length() - 2);
    }

    void requireOpen(String task) {
        if (defined) {
            throw refuse(
                    "'%s' was changed after the DAG was defined. Define everything inside the function passed to Dag.of."
                            .formatted(task));
        }
    }

    /** The exception that says why this cannot be a DAG. */
    public DefinitionException refuse(String why) {
        return new DefinitionException("DAG '%s' cannot be defined: %s".formatted(name, why));
    }

    /**
     * The DAG with all its tasks. The draft cannot be changed any more.
     *
     * @param result the task whose output is the result; null if the result is the outputs of all leaves
     */
    public <I extends @Nullable Object, O extends @Nullable Object> DagDefinition<I, O> define(
            Type inputType, @Nullable TaskDraft result) {
        defined = true;
        if (tasks.isEmpty()) {
            throw refuse("it has no tasks. Define at least one with dag.task(…).");
        }
        List<TaskSpec> specs = new ArrayList<>();
        tasks.values().forEach(task -> specs.add(task.spec()));
        return new DagDefinition<>(
                name,
                inputType,
                new TaskOrder(this::refuse).of(specs),
                Optional.ofNullable(result).map(TaskDraft::name),
                Optional.ofNullable(onFailure),
                Optional.ofNullable(onSuccess));
    }
}
