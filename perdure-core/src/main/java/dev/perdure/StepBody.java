package dev.perdure;

import dev.perdure.internal.text.Texts;
import java.io.Serializable;
import org.jspecify.annotations.Nullable;

/**
 * The body of a step: one effect on the outside world, and its result. It runs at least once. After the engine has
 * recorded the result, it never runs again. The type is {@link Serializable} only so that the engine can read the
 * lambda's result type; the engine never serialises it.
 *
 * @param <T> the result
 */
@FunctionalInterface
public interface StepBody<T extends @Nullable Object> extends Serializable {
    /** Does the work. */
    T call() throws Exception;

    /**
     * A body with a stated result type, for types that a lambda does not show: generic types, such as lists.
     *
     * <pre>{@code
     * ctx.step("orders", StepBody.returning(new TypeRef<List<Order>>() {}, () -> orders.open()));
     * }</pre>
     */
    static <T extends @Nullable Object> StepBody<T> returning(TypeRef<T> type, StepBody<T> body) {
        Texts.requireGiven("body", body);
        Texts.requireGiven("type", type);
        return new Typed<>(type, body);
    }

    /**
     * A body with a stated result type.
     *
     * @param type the result type
     * @param body the body
     * @param <T> the result
     */
    @SuppressWarnings("serial") // it is never serialised
    record Typed<T extends @Nullable Object>(TypeRef<T> type, StepBody<T> body) implements StepBody<T> {
        @Override
        public T call() throws Exception {
            return body.call();
        }
    }
}
