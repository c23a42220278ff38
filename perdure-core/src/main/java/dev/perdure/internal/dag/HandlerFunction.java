package dev.perdure.internal.dag;

import dev.perdure.RunId;
import dev.perdure.StepOptions;
import dev.perdure.WorkflowContext;
import dev.perdure.dag.FailureContext;
import dev.perdure.internal.definition.Registered;
import dev.perdure.internal.execution.EngineContext;
import org.jspecify.annotations.Nullable;

/** What the run of onFailure or onSuccess does. */
final class HandlerFunction implements Registered.Function {
    /** What the user wrote. */
    @FunctionalInterface
    interface Handler {
        void run(FailureContext<@Nullable Object> situation) throws Exception;
    }

    private final String name;
    private final Handler handler;

    HandlerFunction(String name, Handler handler) {
        this.name = name;
        this.handler = handler;
    }

    @Override
    public @Nullable Object call(WorkflowContext ctx, @Nullable Object input) throws Throwable {
        if (!(input instanceof HandlerInput<?> aftermath)) {
            throw new IllegalStateException("Not an aftermath: " + input);
        }
        RunningTask situation =
                new RunningTask(ctx, RunId.of(aftermath.run()), name, aftermath.input(), aftermath.errors());
        return TaskFunction.last(
                (EngineContext) ctx,
                name,
                void.class,
                () -> {
                    handler.run(situation);
                    return null;
                },
                StepOptions.defaults());
    }
}
