package dev.perdure.object;

import java.io.Serializable;
import org.jspecify.annotations.Nullable;

/**
 * A reference to a {@link Handler} method, such as {@code Cart::add}, exclusive or shared. It only names the method: it is
 * never called and never serialised. {@link Serializable} is what lets Java say which method was meant.
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

    /** A handler with an input; its result, if it has one, is of no interest. */
    @FunctionalInterface
    non-sealed interface Consumer<O, I extends @Nullable Object> extends ObjectMethod {
        /** Names the method. */
        void call(O self, ObjectContext ctx, I input) throws Exception;
    }

    /** A handler without input; its result, if it has one, is of no interest. */
    @FunctionalInterface
    non-sealed interface Action<O> extends ObjectMethod {
        /** Names the method. */
        void call(O self, ObjectContext ctx) throws Exception;
    }
}
