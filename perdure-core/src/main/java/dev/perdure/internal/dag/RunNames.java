package dev.perdure.internal.dag;

import dev.perdure.RunId;

/** What the runs of a DAG are called: a task's after the DAG and the task, an item's with a mark behind. */
public final class RunNames {
    private static final char MARK = '/';
    private static final char ITEM = '*';

    private RunNames() {}

    static String definition(String dag, String task) {
        return dag + MARK + task;
    }

    static String itemDefinition(String dag, String task) {
        return definition(dag, task) + ITEM;
    }

    static RunId task(RunId dag, String task) {
        return RunId.of(dag.value() + MARK + task);
    }

    /** The task that a run of a DAG's is. */
    public static String taskOf(RunId task) {
        return last(task.value());
    }

    /** The task or the handler that runs of a DAG's are that have this definition. */
    public static String taskOf(String definition) {
        return last(definition);
    }

    private static String last(String name) {
        return name.substring(name.lastIndexOf(MARK) + 1);
    }

    /** The run of the DAG that a task's run is part of. */
    static RunId dagRunOf(RunId task) {
        return RunId.of(task.value().substring(0, task.value().lastIndexOf(MARK)));
    }
}
