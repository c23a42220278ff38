package dev.perdure.object;

import dev.perdure.Run;
import dev.perdure.StartOptions;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A handle to one virtual object, for code outside of workflows. It holds only the key. Thread-safe.
 *
 * <p>A call is a run: it is durable when the method returns, and any worker that has registered the object runs it. The
 * exclusive calls of one key run in the order in which they arrive. {@link StartOptions#id} makes a call idempotent:
 * two calls with the same id are one call. {@link StartOptions#after} delays the call, which takes its place in the
 * order when the delay is over.
 *
 * @param <O> the class of the object
 */
@SuppressWarnings("overloads") // an exact method reference fits one of them only
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

    /** Calls a handler without a result and waits for its end. */
    default <I extends @Nullable Object> void call(ObjectMethod.Consumer<O, I> handler, I input) {
        send(handler, input).result();
    }

    /** Calls a handler without a result and waits for its end. */
    default void call(ObjectMethod.Action<O> handler) {
        send(handler, StartOptions.defaults()).result();
    }

    /** Calls a handler without waiting for it. */
    default <I extends @Nullable Object, R extends @Nullable Object> Run<R> send(
            ObjectMethod.Function<O, I, R> handler, I input) {
        return send(handler, input, StartOptions.defaults());
    }

    /** Calls a handler with options, without waiting for it. */
    <I extends @Nullable Object, R extends @Nullable Object> Run<R> send(
            ObjectMethod.Function<O, I, R> handler, I input, StartOptions options);

    /** Calls a handler with options, without waiting for it. */
    <R extends @Nullable Object> Run<R> send(ObjectMethod.Supplier<O, R> handler, StartOptions options);

    /** Calls a handler without a result, without waiting for it. */
    default <I extends @Nullable Object> Run<@Nullable Void> send(ObjectMethod.Consumer<O, I> handler, I input) {
        return send(handler, input, StartOptions.defaults());
    }

    /** Calls a handler without a result, with options, without waiting for it. */
    <I extends @Nullable Object> Run<@Nullable Void> send(
            ObjectMethod.Consumer<O, I> handler, I input, StartOptions options);

    /** Calls a handler without a result, with options, without waiting for it. */
    Run<@Nullable Void> send(ObjectMethod.Action<O> handler, StartOptions options);

    /** Reads the object's state without starting a run. */
    ObjectState state();

    /**
     * Changes the state from outside: makes an exclusive call, which waits for its turn like any other, and waits for
     * its end. For operators; application code belongs in a handler.
     *
     * <pre>{@code
     * cart.edit(state -> state.set(Cart.ITEMS, 0).clear(Cart.COUPON));
     * }</pre>
     */
    void edit(Consumer<StateEdit> changes);
}
