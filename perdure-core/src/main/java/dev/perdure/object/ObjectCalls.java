package dev.perdure.object;

import dev.perdure.Child;
import dev.perdure.ChildOptions;
import dev.perdure.RunId;
import dev.perdure.StartOptions;
import dev.perdure.error.RunFailedException;
import org.jspecify.annotations.Nullable;

/**
 * Calls of one virtual object from inside a run. They go out with the run's next commit, in order.
 *
 * <p>While a run waits for a call it keeps what it holds. Calls that would wait for each other in a circle are refused: the
 * youngest fails with {@link RunFailedException} and the whole chain in its message.
 *
 * @param <O> the class of the object
 */
public interface ObjectCalls<O> {
    /** Calls a handler and waits for its result. */
    <I extends @Nullable Object, R extends @Nullable Object> R call(ObjectMethod.Function<O, I, R> handler, I input);

    /** Calls a handler and waits for its result. */
    <R extends @Nullable Object> R call(ObjectMethod.Supplier<O, R> handler);

    /** Calls a handler that gives nothing and waits for its end. */
    <I extends @Nullable Object> void callVoid(ObjectMethod.Consumer<O, I> handler, I input);

    /** Calls a handler that gives nothing and waits for its end. */
    void callVoid(ObjectMethod.Action<O> handler);

    /** Calls a handler whose result is awaited later. */
    default <I extends @Nullable Object, R extends @Nullable Object> Child<R> begin(
            ObjectMethod.Function<O, I, R> handler, I input) {
        return begin(handler, input, ChildOptions.defaults());
    }

    /** Calls a handler whose result is awaited later, with options. */
    <I extends @Nullable Object, R extends @Nullable Object> Child<R> begin(
            ObjectMethod.Function<O, I, R> handler, I input, ChildOptions options);

    /** Calls a handler whose result is awaited later, with options. */
    <R extends @Nullable Object> Child<R> begin(ObjectMethod.Supplier<O, R> handler, ChildOptions options);

    /** Calls a handler that this run has nothing to do with any more, and gives the id of the call. */
    default <I extends @Nullable Object> RunId send(ObjectMethod.Consumer<O, I> handler, I input) {
        return send(handler, input, StartOptions.defaults());
    }

    /** Calls a handler that this run has nothing to do with any more, with options, and gives the id of the call. */
    <I extends @Nullable Object> RunId send(ObjectMethod.Consumer<O, I> handler, I input, StartOptions options);

    /** Calls a handler that this run has nothing to do with any more, with options, and gives the id of the call. */
    RunId send(ObjectMethod.Action<O> handler, StartOptions options);
}
