package dev.perdure.internal.dag;

import dev.perdure.RunId;
import dev.perdure.WorkflowContext;
import dev.perdure.dag.TaskSpec;
import dev.perdure.error.DeadlineExceededException;
import dev.perdure.internal.definition.Registered;
import dev.perdure.internal.execution.EngineContext;
import java.lang.reflect.Type;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What the run of one item of a map does. */
final class ItemFunction implements Registered.Function {
    private final TaskSpec task;
    private final TaskSpec.Mapped mapped;
    private final Type type;

    ItemFunction(TaskSpec task, TaskSpec.Mapped mapped, Type type) {
        this.task = task;
        this.mapped = mapped;
        this.type = type;
    }

    @Override
    public @Nullable Object call(WorkflowContext ctx, @Nullable Object input) throws Throwable {
        if (!(input instanceof MapItem<?, ?> item)) {
            throw new IllegalStateException("Not an item: " + input);
        }
        RunningTask situation = new RunningTask(ctx, RunId.of(item.run()), task.name(), item.input(), List.of());
        EngineContext engine = (EngineContext) ctx;
        try {
            return TaskFunction.last(
                    engine,
                    task.name(),
                    type,
                    () -> mapped.body().callWith(situation, Collections.singletonList(item.item())),
                    task.step());
        } catch (DeadlineExceededException late) {
            throw DagDeadline.ends(engine, late);
        }
    }
}
