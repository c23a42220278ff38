package dev.perdure.internal.dag;

import dev.perdure.RunId;

/** What the runs of a graph are called: a task's after the graph and the task, an item's with a mark behind. */
public final class RunNames {
    private static final char MARK = '/';
    private static final char ITEM = '*';

    private RunNames() {}

    static String definition(String graph, String task) {
        return graph + MARK + task;
    }

    static String itemDefinition(String graph, String task) {
        return definition(graph, task) + ITEM;
    }

    static RunId task(RunId graph, String task) {
        return RunId.of(graph.value() + MARK + task);
    }

    /** The task that a run of a graph's is. */
    public static String taskOf(RunId task) {
        return last(task.value());
    }

    /** The task or the handler that runs of a graph's are that have this definition. */
    public static String taskOf(String definition) {
        return last(definition);
    }

    private static String last(String name) {
        return name.substring(name.lastIndexOf(MARK) + 1);
    }

    /** The run of the graph that a task's run is part of. */
    static RunId graphOf(RunId task) {
        return RunId.of(task.value().substring(0, task.value().lastIndexOf(MARK)));
    }
}
