package dev.perdure.object;

import dev.perdure.Child;
import dev.perdure.ChildOptions;
import dev.perdure.RunId;
import dev.perdure.StartOptions;
import dev.perdure.error.RunFailedException;
import org.jspecify.annotations.Nullable;

/**
 * Calls one virtual object from inside a run. The calls become durable with the run's next commit, in order.
 *
 * <p>An exclusive handler keeps its object while it waits for a call. The store refuses calls that would wait for each
 * other in a cycle: the youngest call fails with {@link RunFailedException}, whose message shows the whole chain.
 *
 * @param <O> the class of the object
 */
@SuppressWarnings("overloads") // an exact method reference fits one of them only
public interface ObjectCalls<O> {
    /** Calls a handler and waits for its result. */
    <I extends @Nullable Object, R extends @Nullable Object> R call(ObjectMethod.Function<O, I, R> handler, I input);

    /** Calls a handler and waits for its result. */
    <R extends @Nullable Object> R call(ObjectMethod.Supplier<O, R> handler);

    /** Calls a handler without a result and waits for its end. */
    <I extends @Nullable Object> void call(ObjectMethod.Consumer<O, I> handler, I input);

    /** Calls a handler without a result and waits for its end. */
    void call(ObjectMethod.Action<O> handler);

    /** Calls a handler and returns at once. Await the result later. */
    default <I extends @Nullable Object, R extends @Nullable Object> Child<R> begin(
            ObjectMethod.Function<O, I, R> handler, I input) {
        return begin(handler, input, ChildOptions.defaults());
    }

    /** Calls a handler with options and returns at once. Await the result later. */
    <I extends @Nullable Object, R extends @Nullable Object> Child<R> begin(
            ObjectMethod.Function<O, I, R> handler, I input, ChildOptions options);

    /** Calls a handler with options and returns at once. Await the result later. */
    <R extends @Nullable Object> Child<R> begin(ObjectMethod.Supplier<O, R> handler, ChildOptions options);

    /** Calls a handler without result, whose end is awaited later, with options. */
    <I extends @Nullable Object> Child<@Nullable Void> begin(
            ObjectMethod.Consumer<O, I> handler, I input, ChildOptions options);

    /** Calls a handler without result, whose end is awaited later, with options. */
    Child<@Nullable Void> begin(ObjectMethod.Action<O> handler, ChildOptions options);

    /** Calls a handler without waiting for it, independently of this run, and returns the id of the call. */
    default <I extends @Nullable Object> RunId send(ObjectMethod.Consumer<O, I> handler, I input) {
        return send(handler, input, StartOptions.defaults());
    }

    /**
     * Calls a handler with options, without waiting for it, independently of this run, and returns the id of the call.
     */
    <I extends @Nullable Object> RunId send(ObjectMethod.Consumer<O, I> handler, I input, StartOptions options);

    /**
     * Calls a handler with options, without waiting for it, independently of this run, and returns the id of the call.
     */
    RunId send(ObjectMethod.Action<O> handler, StartOptions options);
}
