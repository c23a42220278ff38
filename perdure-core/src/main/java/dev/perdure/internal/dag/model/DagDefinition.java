package dev.perdure.internal.dag.model;

import dev.perdure.dag.Dag;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What {@code Dag.of} returns. Two definitions are equal only if they are the same object.
 *
 * @param <I> the input of a run
 * @param <O> the result of a run
 */
public final class DagDefinition<I extends @Nullable Object, O extends @Nullable Object> implements Dag<I, O> {
    private final String name;
    private final Type inputType;
    private final List<TaskSpec> tasks;
    private final Optional<String> resultTask;
    private final Optional<HandlerCode> onFailure;
    private final Optional<HandlerCode> onSuccess;

    DagDefinition(
            String name,
            Type inputType,
            List<TaskSpec> tasks,
            Optional<String> resultTask,
            Optional<HandlerCode> onFailure,
            Optional<HandlerCode> onSuccess) {
        this.name = name;
        this.inputType = inputType;
        this.tasks = tasks;
        this.resultTask = resultTask;
        this.onFailure = onFailure;
        this.onSuccess = onSuccess;
    }

    @Override
    public String name() {
        return name;
    }

    /** The type of the input. */
    public Type inputType() {
        return inputType;
    }

    /** Its tasks, each after all tasks that it comes after. */
    public List<TaskSpec> tasks() {
        return tasks;
    }

    /** The task whose output is the result; empty if the result is the outputs of all leaves. */
    public Optional<String> resultTask() {
        return resultTask;
    }

    /** What runs when a task has failed. */
    public Optional<HandlerCode> onFailure() {
        return onFailure;
    }

    /** What runs when no task has failed or was cancelled. */
    public Optional<HandlerCode> onSuccess() {
        return onSuccess;
    }

    // ---- drawing

    @Override
    public String toText() {
        return drawing().text();
    }

    @Override
    public String toMermaid() {
        return drawing().mermaid();
    }

    @Override
    public String toGraphviz() {
        return drawing().graphviz();
    }

    private DagDrawing drawing() {
        List<DagDrawing.Node> nodes = new ArrayList<>();
        Set<String> leaves = new LinkedHashSet<>();
        for (TaskSpec task : tasks) {
            nodes.add(new DagDrawing.Node(task.name(), null, task.after(), ""));
            leaves.add(task.name());
            task.after().forEach(leaves::remove);
        }
        onFailure.ifPresent(handler -> nodes.add(handler(DagDraft.ON_FAILURE, leaves, "if a task has failed")));
        onSuccess.ifPresent(
                handler -> nodes.add(handler(DagDraft.ON_SUCCESS, leaves, "if none has failed or was cancelled")));
        return new DagDrawing(name, nodes);
    }

    private static DagDrawing.Node handler(String name, Set<String> leaves, String when) {
        return new DagDrawing.Node(name, null, List.copyOf(leaves), when);
    }

    @Override
    public String toString() {
        return "Dag[" + name + "]";
    }
}
