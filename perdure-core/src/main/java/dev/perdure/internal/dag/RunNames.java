package dev.perdure.internal.dag;

import dev.perdure.RunId;

/**
 * The names of the runs and definitions of a DAG: a task has the names of the DAG and of the task, an item has a mark
 * in addition.
 */
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

    /** The name of the task that has this run. */
    public static String taskOf(RunId task) {
        return last(task.value());
    }

    /** The name of the task or handler that has this definition. */
    public static String taskOf(String definition) {
        return last(definition);
    }

    private static String last(String name) {
        return name.substring(name.lastIndexOf(MARK) + 1);
    }

    /** Whether a run may be that of a task, by its id. */
    public static boolean mayBeTask(RunId run) {
        return run.value().lastIndexOf(MARK) > 0;
    }

    /** The id of the DAG's run that this run of a task belongs to. */
    public static RunId dagRunOf(RunId task) {
        return RunId.of(task.value().substring(0, task.value().lastIndexOf(MARK)));
    }
}
