package dev.perdure;

import java.io.Serializable;
import org.jspecify.annotations.Nullable;

/**
 * A reference to a {@link Workflow} method, such as {@code Orders::process}. It only names the method: the engine
 * neither calls nor serialises it. The type is {@link Serializable} so that the engine can read which method it refers
 * to.
 */
public sealed interface WorkflowMethod extends Serializable {
    /** A method with an input and a result. */
    @FunctionalInterface
    non-sealed interface Function<W, I extends @Nullable Object, R extends @Nullable Object> extends WorkflowMethod {
        /** Names the method. */
        R call(W self, WorkflowContext ctx, I input) throws Exception;
    }

    /** A method with a result and no input. */
    @FunctionalInterface
    non-sealed interface Supplier<W, R extends @Nullable Object> extends WorkflowMethod {
        /** Names the method. */
        R call(W self, WorkflowContext ctx) throws Exception;
    }

    /** A void method with an input. */
    @FunctionalInterface
    non-sealed interface Consumer<W, I extends @Nullable Object> extends WorkflowMethod {
        /** Names the method. */
        void call(W self, WorkflowContext ctx, I input) throws Exception;
    }

    /** A void method without input. */
    @FunctionalInterface
    non-sealed interface Action<W> extends WorkflowMethod {
        /** Names the method. */
        void call(W self, WorkflowContext ctx) throws Exception;
    }
}
