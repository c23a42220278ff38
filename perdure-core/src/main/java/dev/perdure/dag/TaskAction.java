package dev.perdure.dag;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a task of a {@link Dag} does that gives nothing; otherwise a {@link TaskBody} like any other. */
public non-sealed interface TaskAction extends TaskBody {
    /** Of a task that begins at once. */
    @FunctionalInterface
    interface Root<I extends @Nullable Object> extends TaskAction {
        /** Does the work. */
        void run(TaskContext<I> task) throws Exception;

        @Override
        default @Nullable Object callWith(TaskContext<?> task, List<?> outputs) throws Exception {
            run(TaskCasts.context(task));
            return null;
        }
    }

    /** After one task. */
    @FunctionalInterface
    interface Of1<I extends @Nullable Object, A extends @Nullable Object> extends TaskAction {
        /** Does the work. */
        void run(TaskContext<I> task, A first) throws Exception;

        @Override
        default @Nullable Object callWith(TaskContext<?> task, List<?> outputs) throws Exception {
            run(TaskCasts.context(task), TaskCasts.output(outputs, 0));
            return null;
        }
    }

    /** After two tasks. */
    @FunctionalInterface
    interface Of2<I extends @Nullable Object, A extends @Nullable Object, B extends @Nullable Object>
            extends TaskAction {
        /** Does the work. */
        void run(TaskContext<I> task, A first, B second) throws Exception;

        @Override
        default @Nullable Object callWith(TaskContext<?> task, List<?> outputs) throws Exception {
            run(TaskCasts.context(task), TaskCasts.output(outputs, 0), TaskCasts.output(outputs, 1));
            return null;
        }
    }

    /** After three tasks. */
    @FunctionalInterface
    interface Of3<
                    I extends @Nullable Object,
                    A extends @Nullable Object,
                    B extends @Nullable Object,
                    C extends @Nullable Object>
            extends TaskAction {
        /** Does the work. */
        void run(TaskContext<I> task, A first, B second, C third) throws Exception;

        @Override
        default @Nullable Object callWith(TaskContext<?> task, List<?> outputs) throws Exception {
            run(
                    TaskCasts.context(task),
                    TaskCasts.output(outputs, 0),
                    TaskCasts.output(outputs, 1),
                    TaskCasts.output(outputs, 2));
            return null;
        }
    }

    /** After four tasks. */
    @FunctionalInterface
    interface Of4<
                    I extends @Nullable Object,
                    A extends @Nullable Object,
                    B extends @Nullable Object,
                    C extends @Nullable Object,
                    D extends @Nullable Object>
            extends TaskAction {
        /** Does the work. */
        void run(TaskContext<I> task, A first, B second, C third, D fourth) throws Exception;

        @Override
        default @Nullable Object callWith(TaskContext<?> task, List<?> outputs) throws Exception {
            run(
                    TaskCasts.context(task),
                    TaskCasts.output(outputs, 0),
                    TaskCasts.output(outputs, 1),
                    TaskCasts.output(outputs, 2),
                    TaskCasts.output(outputs, 3));
            return null;
        }
    }

    /** After any number of tasks that give the same. */
    @FunctionalInterface
    interface OfAll<I extends @Nullable Object, A extends @Nullable Object> extends TaskAction {
        /** Does the work. The outputs come in the order of the tasks. */
        void run(TaskContext<I> task, List<A> outputs) throws Exception;

        @Override
        default @Nullable Object callWith(TaskContext<?> task, List<?> outputs) throws Exception {
            run(TaskCasts.context(task), TaskCasts.outputs(outputs));
            return null;
        }
    }
}
