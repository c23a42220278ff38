package dev.perdure.object;

import java.io.Serializable;
import org.jspecify.annotations.Nullable;

/**
 * A reference to a {@link Handler} method, such as {@code Cart::add}, exclusive or shared. It only names the method:
 * the engine neither calls nor serialises it. The type is {@link Serializable} so that the engine can read which method
 * it refers to.
 */
public sealed interface ObjectMethod extends Serializable {
    /** A handler with an input and a result. */
    @FunctionalInterface
    non-sealed interface Function<O, I extends @Nullable Object, R extends @Nullable Object> extends ObjectMethod {
        /** Names the method. */
        R call(O self, ObjectContext ctx, I input) throws Exception;
    }

    /** A handler with a result and no input. */
    @FunctionalInterface
    non-sealed interface Supplier<O, R extends @Nullable Object> extends ObjectMethod {
        /** Names the method. */
        R call(O self, ObjectContext ctx) throws Exception;
    }

    /** A handler with an input and no result, or with a result that the caller ignores. */
    @FunctionalInterface
    non-sealed interface Consumer<O, I extends @Nullable Object> extends ObjectMethod {
        /** Names the method. */
        void call(O self, ObjectContext ctx, I input) throws Exception;
    }

    /** A handler without input and result, or with a result that the caller ignores. */
    @FunctionalInterface
    non-sealed interface Action<O> extends ObjectMethod {
        /** Names the method. */
        void call(O self, ObjectContext ctx) throws Exception;
    }
}
