package dev.perdure.dag;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** The code of a task that returns nothing; otherwise like {@link TaskBody}. */
public sealed interface TaskAction {
    /** Of a task that comes after no other task. */
    @FunctionalInterface
    non-sealed interface Root<I extends @Nullable Object> extends TaskAction {
        /** Does the work. */
        void run(TaskContext<I> task) throws Exception;
    }

    /** Of a task after one task. */
    @FunctionalInterface
    non-sealed interface Of1<I extends @Nullable Object, A extends @Nullable Object> extends TaskAction {
        /** Does the work. */
        void run(TaskContext<I> task, A first) throws Exception;
    }

    /** Of a task after two tasks. */
    @FunctionalInterface
    non-sealed interface Of2<I extends @Nullable Object, A extends @Nullable Object, B extends @Nullable Object>
            extends TaskAction {
        /** Does the work. */
        void run(TaskContext<I> task, A first, B second) throws Exception;
    }

    /** Of a task after three tasks. */
    @FunctionalInterface
    non-sealed interface Of3<
                    I extends @Nullable Object,
                    A extends @Nullable Object,
                    B extends @Nullable Object,
                    C extends @Nullable Object>
            extends TaskAction {
        /** Does the work. */
        void run(TaskContext<I> task, A first, B second, C third) throws Exception;
    }

    /** Of a task after four tasks. */
    @FunctionalInterface
    non-sealed interface Of4<
                    I extends @Nullable Object,
                    A extends @Nullable Object,
                    B extends @Nullable Object,
                    C extends @Nullable Object,
                    D extends @Nullable Object>
            extends TaskAction {
        /** Does the work. */
        void run(TaskContext<I> task, A first, B second, C third, D fourth) throws Exception;
    }

    /** Of a task after any number of tasks with the same output type. */
    @FunctionalInterface
    non-sealed interface OfAll<I extends @Nullable Object, A extends @Nullable Object> extends TaskAction {
        /** Does the work. The outputs are in the order of the tasks. */
        void run(TaskContext<I> task, List<A> outputs) throws Exception;
    }
}
