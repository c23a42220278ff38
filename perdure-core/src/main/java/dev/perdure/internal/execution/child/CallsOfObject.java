package dev.perdure.internal.execution.child;

import dev.perdure.Child;
import dev.perdure.ChildOptions;
import dev.perdure.RunId;
import dev.perdure.StartOptions;
import dev.perdure.internal.execution.host.Host;
import dev.perdure.internal.execution.value.CallTarget;
import dev.perdure.object.ObjectCalls;
import dev.perdure.object.ObjectMethod;
import org.jspecify.annotations.Nullable;

/** Calls of one virtual object as children of a run. */
public final class CallsOfObject<O> implements ObjectCalls<O> {
    private final Children children;
    private final Host host;
    private final String key;

    public CallsOfObject(Children children, Host host, String key) {
        this.children = children;
        this.host = host;
        this.key = key;
    }

    @Override
    public <I extends @Nullable Object, R extends @Nullable Object> R call(
            ObjectMethod.Function<O, I, R> handler, I input) {
        return this.<R>start("call", handler, input, ChildOptions.defaults()).await();
    }

    @Override
    public <R extends @Nullable Object> R call(ObjectMethod.Supplier<O, R> handler) {
        return this.<R>start("call", handler, null, ChildOptions.defaults()).await();
    }

    @Override
    public <I extends @Nullable Object> void call(ObjectMethod.Consumer<O, I> handler, I input) {
        start("call", handler, input, ChildOptions.defaults()).await();
    }

    @Override
    public void call(ObjectMethod.Action<O> handler) {
        start("call", handler, null, ChildOptions.defaults()).await();
    }

    @Override
    public <I extends @Nullable Object, R extends @Nullable Object> Child<R> begin(
            ObjectMethod.Function<O, I, R> handler, I input, ChildOptions options) {
        return start("begin", handler, input, options);
    }

    @Override
    public <R extends @Nullable Object> Child<R> begin(ObjectMethod.Supplier<O, R> handler, ChildOptions options) {
        return start("begin", handler, null, options);
    }

    @Override
    public <I extends @Nullable Object> Child<@Nullable Void> begin(
            ObjectMethod.Consumer<O, I> handler, I input, ChildOptions options) {
        return start("begin", handler, input, options);
    }

    @Override
    public Child<@Nullable Void> begin(ObjectMethod.Action<O> handler, ChildOptions options) {
        return start("begin", handler, null, options);
    }

    @Override
    public <I extends @Nullable Object> RunId send(ObjectMethod.Consumer<O, I> handler, I input, StartOptions options) {
        return children.spawn("send", CallTarget.of(host.handler(handler), key), input, options);
    }

    @Override
    public RunId send(ObjectMethod.Action<O> handler, StartOptions options) {
        return children.spawn("send", CallTarget.of(host.handler(handler), key), null, options);
    }

    private <R extends @Nullable Object> Child<R> start(
            String what, ObjectMethod handler, @Nullable Object input, ChildOptions options) {
        return children.start(what, CallTarget.of(host.handler(handler), key), input, options);
    }
}
