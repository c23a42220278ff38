package dev.perdure.internal.dag;

import dev.perdure.RunId;
import dev.perdure.StepOptions;
import dev.perdure.WorkflowContext;
import dev.perdure.error.DeadlineExceededException;
import dev.perdure.error.StepFailedException;
import dev.perdure.internal.dag.model.TaskCode;
import dev.perdure.internal.dag.model.TaskSpec;
import dev.perdure.internal.definition.Registered;
import dev.perdure.internal.execution.EngineContext;
import dev.perdure.internal.execution.value.Encoded;
import java.lang.reflect.Type;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** The function of the run of a task. */
final class TaskFunction implements Registered.Function {
    private final TypedDag dag;
    private final TaskSpec task;

    TaskFunction(TypedDag dag, TaskSpec task) {
        this.dag = dag;
        this.task = task;
    }

    @Override
    public RunId inputOwner(RunId run) {
        return RunNames.dagRunOf(run);
    }

    @Override
    public @Nullable Object call(WorkflowContext ctx, @Nullable Object input) throws Throwable {
        EngineContext engine = (EngineContext) ctx;
        RunningTask situation = new RunningTask(ctx, RunNames.dagRunOf(ctx.runId()), task.name(), input);
        try {
            List<@Nullable Object> outputs = new TaskGate(dag, task, engine).pass(situation);
            return switch (task.work()) {
                case TaskSpec.Once once -> run(task, dag.typeOf(task.name()), ctx, situation, outputs);
                case TaskSpec.ForEach each ->
                    new ForEachTask(engine, dag, task, each)
                            .over(outputs.getFirst() instanceof List<?> items ? items : List.of(), situation);
            };
        } catch (DeadlineExceededException late) {
            boolean own = task.work() instanceof TaskSpec.Once && task.hasOwnDeadline();
            throw own ? late : DagDeadline.ends(engine, late);
        }
    }

    /** Runs the code of a task, or of one item. */
    static @Nullable Object run(
            TaskSpec task, Type type, WorkflowContext ctx, RunningTask situation, List<@Nullable Object> outputs)
            throws Throwable {
        return switch (task.work().code()) {
            case TaskCode.Body body ->
                last((EngineContext) ctx, task.name(), type, () -> body.call(situation, outputs), task.step());
            case TaskCode.Workflow workflow -> workflow.call(ctx, situation, outputs);
        };
    }

    /** Runs the body as the last step of the run. If the body fails, the run fails with the same exception. */
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
