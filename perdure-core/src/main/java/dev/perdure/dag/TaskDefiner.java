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
        return add(name, code, new TaskSpec.Inferred(body));
    }

    TaskDraft returning(String name, Serializable body, TaskCode.Workflow code) {
        return add(name, code, new TaskSpec.Inferred(body));
    }

    TaskDraft returningNothing(String name, TaskCode.Body code) {
        return add(name, code, TaskSpec.Result.NOTHING);
    }

    TaskDraft returningNothing(String name, TaskCode.Workflow code) {
        return add(name, code, TaskSpec.Result.NOTHING);
    }

    private TaskDraft add(String name, TaskCode code, TaskSpec.Result result) {
        return dag.add(name, parents, work.apply(code), result);
    }
}
