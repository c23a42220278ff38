package dev.perdure.internal.engine;

import dev.perdure.RunId;
import dev.perdure.StartOptions;
import dev.perdure.internal.definition.ObjectHandler;
import dev.perdure.internal.execution.value.CallTarget;
import dev.perdure.object.ObjectMethod;
import dev.perdure.object.ObjectSends;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Calls of one virtual object that go through an outbox. */
final class OutboxObject<O> implements ObjectSends<O> {
    private final String key;
    private final Function<ObjectMethod, ObjectHandler> handlers;
    private final Starts starts;

    /** Puts starts into the outbox. */
    @FunctionalInterface
    interface Starts {
        RunId start(CallTarget callee, @Nullable Object input, StartOptions options);
    }

    OutboxObject(String key, Function<ObjectMethod, ObjectHandler> handlers, Starts starts) {
        this.key = key;
        this.handlers = handlers;
        this.starts = starts;
    }

    private RunId start(ObjectMethod handler, @Nullable Object input, StartOptions options) {
        return starts.start(CallTarget.of(handlers.apply(handler), key), input, options);
    }

    @Override
    public <I extends @Nullable Object, R extends @Nullable Object> RunId send(
            ObjectMethod.Function<O, I, R> handler, I input, StartOptions options) {
        return start(handler, input, options);
    }

    @Override
    public <R extends @Nullable Object> RunId send(ObjectMethod.Supplier<O, R> handler, StartOptions options) {
        return start(handler, null, options);
    }

    @Override
    public <I extends @Nullable Object> RunId send(ObjectMethod.Consumer<O, I> handler, I input, StartOptions options) {
        return start(handler, input, options);
    }

    @Override
    public RunId send(ObjectMethod.Action<O> handler, StartOptions options) {
        return start(handler, null, options);
    }
}
