package dev.perdure.object;

import dev.perdure.Outbox;
import dev.perdure.RunId;
import dev.perdure.StartOptions;
import org.jspecify.annotations.Nullable;

/**
 * Calls of one virtual object inside a transaction of the caller's own, from {@link Outbox#object}. They are made when that
 * transaction has committed, those of one transaction in their order, and never if it is rolled back.
 *
 * <p>Each gives the id of the call. With {@link StartOptions#id} a call that is made twice is made once; with
 * {@link StartOptions#after} it is made later, and takes its place then.
 *
 * @param <O> the class of the object
 */
public interface ObjectSends<O> {
    /** Calls a handler. */
    <I extends @Nullable Object, R extends @Nullable Object> RunId send(
            ObjectMethod.Function<O, I, R> handler, I input, StartOptions options);

    /** Calls a handler that takes no input. */
    <R extends @Nullable Object> RunId send(ObjectMethod.Supplier<O, R> handler, StartOptions options);

    /** Calls a handler that gives nothing. */
    <I extends @Nullable Object> RunId sendVoid(ObjectMethod.Consumer<O, I> handler, I input, StartOptions options);

    /** Calls a handler that takes nothing and gives nothing. */
    RunId sendVoid(ObjectMethod.Action<O> handler, StartOptions options);
}
