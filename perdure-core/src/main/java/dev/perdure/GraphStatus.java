package dev.perdure;

import java.util.List;
import java.util.Optional;

/**
 * A run of a {@link Dag} with all its tasks, as the store has it.
 *
 * @param run the run itself
 * @param tasks its tasks, in the order of the graph it was started with, then {@code onFailure} or {@code onSuccess} once it
 *     has begun
 * @param events what happened to them, oldest first
 * @param outputs what they gave so far
 */
public record GraphStatus(RunInfo run, List<TaskStatus> tasks, List<GraphEvent> events, Outputs outputs) {
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

    /** The graph with its states as lines of text, for terminals and logs. */
    public String toText() {
        return drawing().text();
    }

    /** The graph with its states as a Mermaid flowchart. */
    public String toMermaid() {
        return drawing().mermaid();
    }

    /** The graph with its states in the language of Graphviz. */
    public String toGraphviz() {
        return drawing().graphviz();
    }

    private Drawing drawing() {
        return new Drawing(
                "%s %s  %s".formatted(run.definition(), run.id(), run.state()),
                tasks.stream().map(GraphStatus::node).toList());
    }

    private static Drawing.Node node(TaskStatus task) {
        String tries = task.attempts() > 1 ? task.attempts() + " attempts" : "";
        String reason = task.reason().orElse("");
        String between = tries.isEmpty() || reason.isEmpty() ? "" : "; ";
        return new Drawing.Node(task.name(), task.state(), task.after(), tries + between + reason);
    }
}
