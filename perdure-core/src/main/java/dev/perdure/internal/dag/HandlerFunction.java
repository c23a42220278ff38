package dev.perdure.internal.dag;

import dev.perdure.RunId;
import dev.perdure.StepOptions;
import dev.perdure.WorkflowContext;
import dev.perdure.internal.dag.model.HandlerCode;
import dev.perdure.internal.definition.Registered;
import dev.perdure.internal.execution.EngineContext;
import org.jspecify.annotations.Nullable;

/** The function of the run of {@code onFailure} or {@code onSuccess}. */
final class HandlerFunction implements Registered.Function {
    private final String name;
    private final HandlerCode code;

    HandlerFunction(String name, HandlerCode code) {
        this.name = name;
        this.code = code;
    }

    @Override
    public @Nullable Object call(WorkflowContext ctx, @Nullable Object input) throws Throwable {
        if (!(input instanceof HandlerInput<?> started)) {
            throw new IllegalStateException("Not the input of a handler: " + input);
        }
        RunningTask situation =
                new RunningTask(ctx, RunId.of(started.run()), name, started.input(), started.first(), started.failed());
        return TaskFunction.last(
                (EngineContext) ctx,
                name,
                void.class,
                () -> {
                    code.run(situation);
                    return null;
                },
                StepOptions.defaults());
    }
}
