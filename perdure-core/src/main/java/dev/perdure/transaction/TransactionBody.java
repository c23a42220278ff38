package dev.perdure.transaction;

import dev.perdure.TypeRef;
import java.io.Serializable;
import org.jspecify.annotations.Nullable;

/**
 * The body of a transaction step: it changes the application's own data and returns a result. It may run more than
 * once, but only one of its transactions commits. The type is {@link Serializable} only so that the engine can read the
 * lambda's result type; the engine never serialises it.
 *
 * @param <C> the handle on the transaction, such as a JDBC connection
 * @param <T> the result
 */
@FunctionalInterface
public interface TransactionBody<C, T extends @Nullable Object> extends Serializable {
    /** Does the work. It must neither commit nor roll back: the engine ends the transaction. */
    T call(C handle) throws Exception;

    /** A body with its result type spelled out, for types that a lambda cannot tell: generic ones, such as lists. */
    static <C, T extends @Nullable Object> TransactionBody<C, T> returning(
            TypeRef<T> type, TransactionBody<C, T> body) {
        return new Typed<>(type, body);
    }

    /**
     * A body with its result type spelled out.
     *
     * @param type the result type
     * @param body the body
     * @param <C> what it works with
     * @param <T> the result
     */
    @SuppressWarnings("serial") // it is never serialised
    record Typed<C, T extends @Nullable Object>(TypeRef<T> type, TransactionBody<C, T> body)
            implements TransactionBody<C, T> {
        @Override
        public T call(C handle) throws Exception {
            return body.call(handle);
        }
    }
}
