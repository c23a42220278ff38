package dev.perdure.internal.dag;

import dev.perdure.StepOptions;
import dev.perdure.WorkflowContext;
import dev.perdure.dag.TaskSpec;
import dev.perdure.error.DeadlineExceededException;
import dev.perdure.error.StepFailedException;
import dev.perdure.internal.definition.Registered;
import dev.perdure.internal.execution.Encoded;
import dev.perdure.internal.execution.EngineContext;
import java.lang.reflect.Type;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** What the run of a task does. */
final class TaskFunction implements Registered.Function {
    private final TypedDag graph;
    private final TaskSpec task;

    TaskFunction(TypedDag graph, TaskSpec task) {
        this.graph = graph;
        this.task = task;
    }

    @Override
    public @Nullable Object call(WorkflowContext ctx, @Nullable Object input) throws Throwable {
        EngineContext engine = (EngineContext) ctx;
        RunningTask situation = new RunningTask(ctx, RunNames.graphOf(ctx.runId()), task.name(), input, List.of());
        try {
            return perform(ctx, engine, situation);
        } catch (DeadlineExceededException late) {
            throw hasOwnDeadline() ? late : DagDeadline.ends(engine, late);
        }
    }

    /** One with a timeout of its own cannot tell which of the two it was, and fails. */
    private boolean hasOwnDeadline() {
        return task.work() instanceof TaskSpec.Durable && task.step().timeout().isPresent();
    }

    private @Nullable Object perform(WorkflowContext ctx, EngineContext engine, RunningTask situation)
            throws Throwable {
        List<@Nullable Object> outputs = new TaskGate(graph, task, engine).pass(situation);
        return switch (task.work()) {
            case TaskSpec.Plain plain ->
                last(
                        engine,
                        task.name(),
                        graph.typeOf(task.name()),
                        () -> plain.body().callWith(situation, outputs),
                        task.step());
            case TaskSpec.Durable durable -> durable.body().callWith(ctx, situation, outputs);
            case TaskSpec.Mapped mapped ->
                new MapTask(engine, graph, task, mapped)
                        .over(outputs.getFirst() instanceof List<?> items ? items : List.of(), situation);
        };
    }

    /** A run that is one body fails as the body did. */
    static Encoded last(EngineContext engine, String name, Type type, Callable<?> body, StepOptions options)
            throws Throwable {
        try {
            return engine.performLast(name, type, body, options);
        } catch (StepFailedException failed) {
            Throwable cause = failed.getCause();
            throw cause == null ? failed : cause;
        }
    }
}
