package dev.perdure.dag;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Whether something holds of a task of a {@link Dag}: looked at once, when all that it comes after have ended, and recorded.
 * It sees what the task's body sees. If it throws, the task fails.
 */
public sealed interface TaskCondition {
    /** For the engine: asks it about what its task comes after has given. */
    boolean testWith(TaskContext<?> task, List<?> outputs) throws Exception;

    /** Of a task that begins at once. */
    @FunctionalInterface
    non-sealed interface Root<I extends @Nullable Object> extends TaskCondition {
        /** Whether it holds. */
        boolean test(TaskContext<I> task) throws Exception;

        @Override
        default boolean testWith(TaskContext<?> task, List<?> outputs) throws Exception {
            return test(TaskCasts.context(task));
        }
    }

    /** After one task. */
    @FunctionalInterface
    non-sealed interface Of1<I extends @Nullable Object, A extends @Nullable Object> extends TaskCondition {
        /** Whether it holds. */
        boolean test(TaskContext<I> task, A first) throws Exception;

        @Override
        default boolean testWith(TaskContext<?> task, List<?> outputs) throws Exception {
            return test(TaskCasts.context(task), TaskCasts.output(outputs, 0));
        }
    }

    /** After two tasks. */
    @FunctionalInterface
    non-sealed interface Of2<I extends @Nullable Object, A extends @Nullable Object, B extends @Nullable Object>
            extends TaskCondition {
        /** Whether it holds. */
        boolean test(TaskContext<I> task, A first, B second) throws Exception;

        @Override
        default boolean testWith(TaskContext<?> task, List<?> outputs) throws Exception {
            return test(TaskCasts.context(task), TaskCasts.output(outputs, 0), TaskCasts.output(outputs, 1));
        }
    }

    /** After three tasks. */
    @FunctionalInterface
    non-sealed interface Of3<
                    I extends @Nullable Object,
                    A extends @Nullable Object,
                    B extends @Nullable Object,
                    C extends @Nullable Object>
            extends TaskCondition {
        /** Whether it holds. */
        boolean test(TaskContext<I> task, A first, B second, C third) throws Exception;

        @Override
        default boolean testWith(TaskContext<?> task, List<?> outputs) throws Exception {
            return test(
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
                    D extends @Nullable Object>
            extends TaskCondition {
        /** Whether it holds. */
        boolean test(TaskContext<I> task, A first, B second, C third, D fourth) throws Exception;

        @Override
        default boolean testWith(TaskContext<?> task, List<?> outputs) throws Exception {
            return test(
                    TaskCasts.context(task),
                    TaskCasts.output(outputs, 0),
                    TaskCasts.output(outputs, 1),
                    TaskCasts.output(outputs, 2),
                    TaskCasts.output(outputs, 3));
        }
    }

    /** After any number of tasks that give the same. */
    @FunctionalInterface
    non-sealed interface OfAll<I extends @Nullable Object, A extends @Nullable Object> extends TaskCondition {
        /** Whether it holds. The outputs come in the order of the tasks. */
        boolean test(TaskContext<I> task, List<A> outputs) throws Exception;

        @Override
        default boolean testWith(TaskContext<?> task, List<?> outputs) throws Exception {
            return test(TaskCasts.context(task), TaskCasts.outputs(outputs));
        }
    }
}
