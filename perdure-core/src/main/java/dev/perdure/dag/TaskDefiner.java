package dev.perdure.dag;

import dev.perdure.internal.dag.model.DagDraft;
import dev.perdure.internal.dag.model.TaskCode;
import dev.perdure.internal.dag.model.TaskDraft;
import dev.perdure.internal.dag.model.TaskSpec;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * Adds tasks with the same parents to a DAG.
 *
 * @param dag the DAG
 * @param parents the tasks whose outputs a new task gets
 * @param work what a new task does with its code
 */
record TaskDefiner(DagDraft dag, List<TaskDraft> parents, Function<TaskCode, TaskSpec.Work> work) {
    static TaskDefiner after(DagDraft dag, List<? extends DagTask<?>> parents) {
        dag.requireGiven("the list passed to after(…)", parents);
        List<TaskDraft> drafts = new ArrayList<>();
        for (DagTask<?> parent : parents) {
            drafts.add(TaskOptions.requireOwn(dag, parent, "after(…) was given"));
        }
        return new TaskDefiner(dag, drafts, TaskSpec.Once::new);
    }

    static TaskDefiner forEach(DagDraft dag, DagTask<?> items) {
        return new TaskDefiner(
                dag,
                List.of(TaskOptions.requireOwn(dag, items, "forEach(…) was given")),
                code -> new TaskSpec.ForEach(code, NewForEach.DEFAULT_PARALLELISM, false));
    }

    TaskDraft returning(String name, Serializable body, TaskCode.Body code) {
        requireGiven(name, body);
        return add(name, code, new TaskSpec.Inferred(body));
    }

    TaskDraft returning(String name, Serializable body, TaskCode.Workflow code) {
        requireGiven(name, body);
        return add(name, code, new TaskSpec.Inferred(body));
    }

    TaskDraft returningNothing(String name, Object action, TaskCode.Body code) {
        requireGiven(name, action);
        return add(name, code, TaskSpec.Result.NOTHING);
    }

    TaskDraft returningNothing(String name, Object routine, TaskCode.Workflow code) {
        requireGiven(name, routine);
        return add(name, code, TaskSpec.Result.NOTHING);
    }

    private void requireGiven(String name, Object code) {
        dag.requireGiven("the code of task '" + name + "'", code);
    }

    private TaskDraft add(String name, TaskCode code, TaskSpec.Result result) {
        return dag.add(name, parents, work.apply(code), result);
    }
}
