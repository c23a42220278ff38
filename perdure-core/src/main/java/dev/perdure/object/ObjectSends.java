package dev.perdure.object;

import dev.perdure.Outbox;
import dev.perdure.RunId;
import dev.perdure.StartOptions;
import org.jspecify.annotations.Nullable;

/**
 * Calls one virtual object inside the caller's own transaction. Get one from {@link Outbox#object}. The calls happen
 * after that transaction has committed, in their order within the transaction, and never if it rolls back.
 *
 * <p>Each method returns the id of the call. {@link StartOptions#id} makes a call idempotent: two calls with the same
 * id are one call. {@link StartOptions#after} delays the call, which takes its place in the order when the delay is
 * over.
 *
 * @param <O> the class of the object
 */
@SuppressWarnings("overloads") // an exact method reference fits one of them only
public interface ObjectSends<O> {
    /** Calls a handler. */
    <I extends @Nullable Object, R extends @Nullable Object> RunId send(
            ObjectMethod.Function<O, I, R> handler, I input, StartOptions options);

    /** Calls a handler without input. */
    <R extends @Nullable Object> RunId send(ObjectMethod.Supplier<O, R> handler, StartOptions options);

    /** Calls a handler that returns nothing. */
    <I extends @Nullable Object> RunId send(ObjectMethod.Consumer<O, I> handler, I input, StartOptions options);

    /** Calls a handler that takes no input and returns nothing. */
    RunId send(ObjectMethod.Action<O> handler, StartOptions options);
}
