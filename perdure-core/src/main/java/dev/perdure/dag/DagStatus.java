package dev.perdure.dag;

import dev.perdure.RunInfo;
import dev.perdure.RunState;
import dev.perdure.internal.dag.model.DagDrawing;
import java.util.List;
import java.util.Optional;

/**
 * A run of a {@link Dag} with all its tasks, as the store has it.
 *
 * @param run the run itself
 * @param tasks its tasks, in the order of the DAG that it was started with; then {@code onFailure} or
 *     {@code onSuccess}, if it has begun
 * @param events the events of the tasks, oldest first
 * @param outputs the outputs of the tasks so far
 */
public record DagStatus(RunInfo run, List<TaskStatus> tasks, List<DagEvent> events, Outputs outputs) {
    /** A task by its name. */
    public Optional<TaskStatus> task(String name) {
        return tasks.stream().filter(task -> task.name().equals(name)).findFirst();
    }

    /** The tasks that failed. */
    public List<TaskError> errors() {
        return tasks.stream()
                .filter(task -> task.state() == RunState.FAILED)
                .map(task -> new TaskError(task.name(), task.reason().orElse("")))
                .toList();
    }

    /** The DAG with its states as lines of text, for terminals and logs. */
    public String toText() {
        return drawing().text();
    }

    /** The DAG with its states as a Mermaid flowchart. */
    public String toMermaid() {
        return drawing().mermaid();
    }

    /** The DAG with its states in the language of Graphviz. */
    public String toGraphviz() {
        return drawing().graphviz();
    }

    private DagDrawing drawing() {
        return new DagDrawing(
                "%s %s  %s".formatted(run.definition(), run.id(), run.state()),
                tasks.stream().map(DagStatus::node).toList());
    }

    private static DagDrawing.Node node(TaskStatus task) {
        String tries = task.attempts() > 1 ? task.attempts() + " attempts" : "";
        String reason = task.reason().orElse("");
        String between = tries.isEmpty() || reason.isEmpty() ? "" : "; ";
        return new DagDrawing.Node(task.name(), task.state(), task.after(), tries + between + reason);
    }
}
