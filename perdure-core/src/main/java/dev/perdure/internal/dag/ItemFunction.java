package dev.perdure.internal.dag;

import dev.perdure.RunId;
import dev.perdure.WorkflowContext;
import dev.perdure.error.DeadlineExceededException;
import dev.perdure.internal.dag.model.TaskSpec;
import dev.perdure.internal.definition.Registered;
import dev.perdure.internal.execution.EngineContext;
import java.lang.reflect.Type;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The function of the run of one item. */
final class ItemFunction implements Registered.Function {
    private final TypedDag dag;
    private final TaskSpec task;
    private final Type type;

    ItemFunction(TypedDag dag, TaskSpec task) {
        this.dag = dag;
        this.task = task;
        this.type = dag.itemTarget(task).resultType();
    }

    @Override
    public @Nullable Object call(WorkflowContext ctx, @Nullable Object input) throws Throwable {
        if (!(input instanceof ForEachItem<?, ?> item)) {
            throw new IllegalStateException("Not an item: " + input);
        }
        EngineContext engine = (EngineContext) ctx;
        engine.makeNextInput(next -> {
            // The item is checked by itself, because messages about the whole input name this record.
            String what = "the next item of task '%s' of DAG '%s'".formatted(task.name(), dag.name());
            engine.requireStorable(next, dag.itemType(task), what);
            return new ForEachItem<@Nullable Object, @Nullable Object>(item.run(), item.input(), next);
        });
        RunningTask situation = new RunningTask(ctx, RunId.of(item.run()), task.name(), item.input());
        List<@Nullable Object> outputs = Collections.singletonList(item.item());
        try {
            return TaskFunction.run(task, type, ctx, situation, outputs);
        } catch (DeadlineExceededException late) {
            throw task.hasOwnDeadline() ? late : DagDeadline.ends(engine, late);
        }
    }
}
