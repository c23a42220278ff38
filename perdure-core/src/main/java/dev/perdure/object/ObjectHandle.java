package dev.perdure.object;

import dev.perdure.Run;
import dev.perdure.StartOptions;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A handle on one virtual object, from outside of runs. Holds nothing but its key. Thread-safe.
 *
 * <p>A call is a run: durable when it has been made, and carried on by whichever worker knows the object. The exclusive calls
 * of one key have their turn in the order in which they were made; with {@link StartOptions#id} a call that is made twice is
 * made once; with {@link StartOptions#after} it is made later, and takes its place then.
 *
 * @param <O> the class of the object
 */
public interface ObjectHandle<O> {
    /** Calls a handler and waits for its result. */
    default <I extends @Nullable Object, R extends @Nullable Object> R call(
            ObjectMethod.Function<O, I, R> handler, I input) {
        return send(handler, input).result();
    }

    /** Calls a handler and waits for its result. */
    default <R extends @Nullable Object> R call(ObjectMethod.Supplier<O, R> handler) {
        return send(handler, StartOptions.defaults()).result();
    }

    /** Calls a handler that gives nothing and waits for its end. */
    default <I extends @Nullable Object> void callVoid(ObjectMethod.Consumer<O, I> handler, I input) {
        sendVoid(handler, input).result();
    }

    /** Calls a handler that gives nothing and waits for its end. */
    default void callVoid(ObjectMethod.Action<O> handler) {
        sendVoid(handler, StartOptions.defaults()).result();
    }

    /** Calls a handler and goes on. */
    default <I extends @Nullable Object, R extends @Nullable Object> Run<R> send(
            ObjectMethod.Function<O, I, R> handler, I input) {
        return send(handler, input, StartOptions.defaults());
    }

    /** Calls a handler and goes on, with options. */
    <I extends @Nullable Object, R extends @Nullable Object> Run<R> send(
            ObjectMethod.Function<O, I, R> handler, I input, StartOptions options);

    /** Calls a handler and goes on, with options. */
    <R extends @Nullable Object> Run<R> send(ObjectMethod.Supplier<O, R> handler, StartOptions options);

    /** Calls a handler that gives nothing and goes on. */
    default <I extends @Nullable Object> Run<@Nullable Void> sendVoid(ObjectMethod.Consumer<O, I> handler, I input) {
        return sendVoid(handler, input, StartOptions.defaults());
    }

    /** Calls a handler that gives nothing and goes on, with options. */
    <I extends @Nullable Object> Run<@Nullable Void> sendVoid(
            ObjectMethod.Consumer<O, I> handler, I input, StartOptions options);

    /** Calls a handler that gives nothing and goes on, with options. */
    Run<@Nullable Void> sendVoid(ObjectMethod.Action<O> handler, StartOptions options);

    /** What it knows, without starting a run. */
    ObjectState state();

    /**
     * Changes the state from outside, as an exclusive call that has its turn like any other, and waits for its end. For
     * operators: what the application does belongs into a handler.
     *
     * <pre>{@code
     * cart.edit(state -> state.set(Cart.ITEMS, 0).clear(Cart.COUPON));
     * }</pre>
     */
    void edit(Consumer<StateEdit> changes);
}
