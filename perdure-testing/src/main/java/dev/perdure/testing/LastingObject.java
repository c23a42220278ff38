package dev.perdure.testing;

import dev.perdure.Run;
import dev.perdure.StartOptions;
import dev.perdure.object.ObjectHandle;
import dev.perdure.object.ObjectMethod;
import dev.perdure.object.ObjectState;
import dev.perdure.object.StateEdit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A handle to a virtual object that outlives the engine that made it. So do the handles to its calls.
 *
 * <p>The test survives a crash of the engine, and must get its results from the next engine. A direct call may run in
 * the engine's memory without being in the store before it ends, and a crash would lose it. So every call here is sent
 * first, which stores it, and then awaited.
 */
final class LastingObject<O> implements ObjectHandle<O> {
    private final ForwardingPerdure perdure;
    private final Class<O> type;
    private final String key;

    LastingObject(ForwardingPerdure perdure, Class<O> type, String key) {
        this.perdure = perdure;
        this.type = type;
        this.key = key;
    }

    private ObjectHandle<O> now() {
        return perdure.engine().object(type, key);
    }

    @Override
    public <I extends @Nullable Object, R extends @Nullable Object> Run<R> send(
            ObjectMethod.Function<O, I, R> handler, I input, StartOptions options) {
        return perdure.lasting(now().send(handler, input, options));
    }

    @Override
    public <R extends @Nullable Object> Run<R> send(ObjectMethod.Supplier<O, R> handler, StartOptions options) {
        return perdure.lasting(now().send(handler, options));
    }

    @Override
    public <I extends @Nullable Object> Run<@Nullable Void> send(
            ObjectMethod.Consumer<O, I> handler, I input, StartOptions options) {
        return perdure.lasting(now().send(handler, input, options));
    }

    @Override
    public Run<@Nullable Void> send(ObjectMethod.Action<O> handler, StartOptions options) {
        return perdure.lasting(now().send(handler, options));
    }

    @Override
    public ObjectState state() {
        return now().state();
    }

    @Override
    public void edit(Consumer<StateEdit> changes) {
        now().edit(changes);
    }
}
