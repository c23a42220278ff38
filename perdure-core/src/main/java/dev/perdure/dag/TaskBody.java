package dev.perdure.dag;

import java.io.Serializable;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a task of a {@link Dag} does: its context, then the outputs of the tasks it comes after. It runs at least once, and
 * never again once it has ended. {@link Serializable} only lets Java say the lambda's result type; it is never serialised.
 *
 * <p>The output of a task that was skipped is null.
 */
public sealed interface TaskBody extends Serializable
        permits TaskAction, TaskBody.Root, TaskBody.Of1, TaskBody.Of2, TaskBody.Of3, TaskBody.Of4, TaskBody.OfAll {
    /** For the engine: calls it with what its task comes after has given. */
    @Nullable
    Object callWith(TaskContext<?> task, List<?> outputs) throws Exception;

    /** Of a task that begins at once. */
    @FunctionalInterface
    non-sealed interface Root<I extends @Nullable Object, T extends @Nullable Object> extends TaskBody {
        /** Does the work. */
        T call(TaskContext<I> task) throws Exception;

        @Override
        default @Nullable Object callWith(TaskContext<?> task, List<?> outputs) throws Exception {
            return call(TaskCasts.context(task));
        }
    }

    /** After one task. */
    @FunctionalInterface
    non-sealed interface Of1<I extends @Nullable Object, A extends @Nullable Object, T extends @Nullable Object>
            extends TaskBody {
        /** Does the work. */
        T call(TaskContext<I> task, A first) throws Exception;

        @Override
        default @Nullable Object callWith(TaskContext<?> task, List<?> outputs) throws Exception {
            return call(TaskCasts.context(task), TaskCasts.output(outputs, 0));
        }
    }

    /** After two tasks. */
    @FunctionalInterface
    non-sealed interface Of2<
                    I extends @Nullable Object,
                    A extends @Nullable Object,
                    B extends @Nullable Object,
                    T extends @Nullable Object>
            extends TaskBody {
        /** Does the work. */
        T call(TaskContext<I> task, A first, B second) throws Exception;

        @Override
        default @Nullable Object callWith(TaskContext<?> task, List<?> outputs) throws Exception {
            return call(TaskCasts.context(task), TaskCasts.output(outputs, 0), TaskCasts.output(outputs, 1));
        }
    }

    /** After three tasks. */
    @FunctionalInterface
    non-sealed interface Of3<
                    I extends @Nullable Object,
                    A extends @Nullable Object,
                    B extends @Nullable Object,
                    C extends @Nullable Object,
                    T extends @Nullable Object>
            extends TaskBody {
        /** Does the work. */
        T call(TaskContext<I> task, A first, B second, C third) throws Exception;

        @Override
        default @Nullable Object callWith(TaskContext<?> task, List<?> outputs) throws Exception {
            return call(
                    TaskCasts.context(task),
                    TaskCasts.output(outputs, 0),
                    TaskCasts.output(outputs, 1),
                    TaskCasts.output(outputs, 2));
        }
    }

    /** After four tasks. */
    @FunctionalInterface
    non-sealed interface Of4<
                    I extends @Nullable Object,
                    A extends @Nullable Object,
                    B extends @Nullable Object,
                    C extends @Nullable Object,
                    D extends @Nullable Object,
                    T extends @Nullable Object>
            extends TaskBody {
        /** Does the work. */
        T call(TaskContext<I> task, A first, B second, C third, D fourth) throws Exception;

        @Override
        default @Nullable Object callWith(TaskContext<?> task, List<?> outputs) throws Exception {
            return call(
                    TaskCasts.context(task),
                    TaskCasts.output(outputs, 0),
                    TaskCasts.output(outputs, 1),
                    TaskCasts.output(outputs, 2),
                    TaskCasts.output(outputs, 3));
        }
    }

    /** After any number of tasks that give the same. */
    @FunctionalInterface
    non-sealed interface OfAll<I extends @Nullable Object, A extends @Nullable Object, T extends @Nullable Object>
            extends TaskBody {
        /** Does the work. The outputs come in the order of the tasks. */
        T call(TaskContext<I> task, List<A> outputs) throws Exception;

        @Override
        default @Nullable Object callWith(TaskContext<?> task, List<?> outputs) throws Exception {
            return call(TaskCasts.context(task), TaskCasts.outputs(outputs));
        }
    }
}
