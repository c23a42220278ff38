package dev.perdure.dag;

import java.io.Serializable;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The code of a task of a {@link Dag}: its context, then the outputs of the tasks that it comes after. It runs at least
 * once. After the engine has recorded its end, it never runs again. The type is {@link Serializable} only so that the
 * engine can read the lambda's result type; the engine never serialises it.
 *
 * <p>The output of a task that was skipped is null.
 */
public sealed interface TaskBody extends Serializable {
    /** Of a task that comes after no other task. */
    @FunctionalInterface
    non-sealed interface Root<I extends @Nullable Object, T extends @Nullable Object> extends TaskBody {
        /** Does the work. */
        T call(TaskContext<I> task) throws Exception;
    }

    /** Of a task after one task. */
    @FunctionalInterface
    non-sealed interface Of1<I extends @Nullable Object, A extends @Nullable Object, T extends @Nullable Object>
            extends TaskBody {
        /** Does the work. */
        T call(TaskContext<I> task, A first) throws Exception;
    }

    /** Of a task after two tasks. */
    @FunctionalInterface
    non-sealed interface Of2<
                    I extends @Nullable Object,
                    A extends @Nullable Object,
                    B extends @Nullable Object,
                    T extends @Nullable Object>
            extends TaskBody {
        /** Does the work. */
        T call(TaskContext<I> task, A first, B second) throws Exception;
    }

    /** Of a task after three tasks. */
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
    }

    /** Of a task after four tasks. */
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
    }

    /** Of a task after any number of tasks with the same output type. */
    @FunctionalInterface
    non-sealed interface OfAll<I extends @Nullable Object, A extends @Nullable Object, T extends @Nullable Object>
            extends TaskBody {
        /** Does the work. The outputs are in the order of the tasks. */
        T call(TaskContext<I> task, List<A> outputs) throws Exception;
    }
}
