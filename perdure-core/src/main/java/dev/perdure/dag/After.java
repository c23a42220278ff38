package dev.perdure.dag;

import dev.perdure.internal.dag.model.TaskCode;
import org.jspecify.annotations.Nullable;

/**
 * The tasks that a new task comes after: {@code dag.after(charge, pack)}. The new task begins when all of them have
 * ended, and their outputs are the parameters of its code.
 *
 * <pre>{@code
 * var ship = dag.after(charge, pack).task("ship", (task, payment, parcel) -> ship(payment, parcel));
 * dag.after(ship).run("notify", (task, tracking) -> mail(task.input().customer(), tracking));
 * }</pre>
 */
public final class After {
    private After() {}

    /**
     * One task.
     *
     * @param <I> the input of the DAG
     * @param <A> the output of the first task
     */
    public static final class Of1<I extends @Nullable Object, A extends @Nullable Object> {
        private final TaskDefiner tasks;

        Of1(TaskDefiner tasks) {
            this.tasks = tasks;
        }

        /** A task whose output is what the code returns. */
        public <T extends @Nullable Object> NewTask<T, TaskBody.Of1<I, A, Boolean>> task(
                String name, TaskBody.Of1<I, A, T> body) {
            return new NewTask<>(tasks.returning(name, body, code(body)), Of1::code);
        }

        /** A task without an output. */
        public NewTask<@Nullable Void, TaskBody.Of1<I, A, Boolean>> run(String name, TaskAction.Of1<I, A> action) {
            return new NewTask<>(
                    tasks.returningNothing(name, action, (task, outputs) -> {
                        action.run(TaskCasts.context(task), TaskCasts.output(outputs, 0));
                        return null;
                    }),
                    Of1::code);
        }

        /** A task that is a workflow; its output is what the workflow returns. */
        public <T extends @Nullable Object> NewTask<T, TaskBody.Of1<I, A, Boolean>> workflow(
                String name, TaskWorkflow.Of1<I, A, T> body) {
            return new NewTask<>(
                    tasks.returning(
                            name,
                            body,
                            (ctx, task, outputs) ->
                                    body.call(ctx, TaskCasts.context(task), TaskCasts.output(outputs, 0))),
                    Of1::code);
        }

        /** A task that is a workflow, without an output. */
        public NewTask<@Nullable Void, TaskBody.Of1<I, A, Boolean>> runWorkflow(
                String name, TaskRoutine.Of1<I, A> routine) {
            return new NewTask<>(
                    tasks.returningNothing(name, routine, (ctx, task, outputs) -> {
                        routine.run(ctx, TaskCasts.context(task), TaskCasts.output(outputs, 0));
                        return null;
                    }),
                    Of1::code);
        }

        private static <I extends @Nullable Object, A extends @Nullable Object> TaskCode.Body code(
                TaskBody.Of1<I, A, ?> body) {
            return (task, outputs) -> body.call(TaskCasts.context(task), TaskCasts.output(outputs, 0));
        }
    }

    /**
     * Two tasks.
     *
     * @param <I> the input of the DAG
     * @param <A> the output of the first task
     * @param <B> the output of the second task
     */
    public static final class Of2<I extends @Nullable Object, A extends @Nullable Object, B extends @Nullable Object> {
        private final TaskDefiner tasks;

        Of2(TaskDefiner tasks) {
            this.tasks = tasks;
        }

        /** A task whose output is what the code returns. */
        public <T extends @Nullable Object> NewTask<T, TaskBody.Of2<I, A, B, Boolean>> task(
                String name, TaskBody.Of2<I, A, B, T> body) {
            return new NewTask<>(tasks.returning(name, body, code(body)), Of2::code);
        }

        /** A task without an output. */
        public NewTask<@Nullable Void, TaskBody.Of2<I, A, B, Boolean>> run(
                String name, TaskAction.Of2<I, A, B> action) {
            return new NewTask<>(
                    tasks.returningNothing(name, action, (task, outputs) -> {
                        action.run(TaskCasts.context(task), TaskCasts.output(outputs, 0), TaskCasts.output(outputs, 1));
                        return null;
                    }),
                    Of2::code);
        }

        /** A task that is a workflow; its output is what the workflow returns. */
        public <T extends @Nullable Object> NewTask<T, TaskBody.Of2<I, A, B, Boolean>> workflow(
                String name, TaskWorkflow.Of2<I, A, B, T> body) {
            return new NewTask<>(
                    tasks.returning(
                            name,
                            body,
                            (ctx, task, outputs) -> body.call(
                                    ctx,
                                    TaskCasts.context(task),
                                    TaskCasts.output(outputs, 0),
                                    TaskCasts.output(outputs, 1))),
                    Of2::code);
        }

        /** A task that is a workflow, without an output. */
        public NewTask<@Nullable Void, TaskBody.Of2<I, A, B, Boolean>> runWorkflow(
                String name, TaskRoutine.Of2<I, A, B> routine) {
            return new NewTask<>(
                    tasks.returningNothing(name, routine, (ctx, task, outputs) -> {
                        routine.run(
                                ctx,
                                TaskCasts.context(task),
                                TaskCasts.output(outputs, 0),
                                TaskCasts.output(outputs, 1));
                        return null;
                    }),
                    Of2::code);
        }

        private static <I extends @Nullable Object, A extends @Nullable Object, B extends @Nullable Object>
                TaskCode.Body code(TaskBody.Of2<I, A, B, ?> body) {
            return (task, outputs) ->
                    body.call(TaskCasts.context(task), TaskCasts.output(outputs, 0), TaskCasts.output(outputs, 1));
        }
    }

    /**
     * Three tasks.
     *
     * @param <I> the input of the DAG
     * @param <A> the output of the first task
     * @param <B> the output of the second task
     * @param <C> the output of the third task
     */
    public static final class Of3<
            I extends @Nullable Object,
            A extends @Nullable Object,
            B extends @Nullable Object,
            C extends @Nullable Object> {
        private final TaskDefiner tasks;

        Of3(TaskDefiner tasks) {
            this.tasks = tasks;
        }

        /** A task whose output is what the code returns. */
        public <T extends @Nullable Object> NewTask<T, TaskBody.Of3<I, A, B, C, Boolean>> task(
                String name, TaskBody.Of3<I, A, B, C, T> body) {
            return new NewTask<>(tasks.returning(name, body, code(body)), Of3::code);
        }

        /** A task without an output. */
        public NewTask<@Nullable Void, TaskBody.Of3<I, A, B, C, Boolean>> run(
                String name, TaskAction.Of3<I, A, B, C> action) {
            return new NewTask<>(
                    tasks.returningNothing(name, action, (task, outputs) -> {
                        action.run(
                                TaskCasts.context(task),
                                TaskCasts.output(outputs, 0),
                                TaskCasts.output(outputs, 1),
                                TaskCasts.output(outputs, 2));
                        return null;
                    }),
                    Of3::code);
        }

        /** A task that is a workflow; its output is what the workflow returns. */
        public <T extends @Nullable Object> NewTask<T, TaskBody.Of3<I, A, B, C, Boolean>> workflow(
                String name, TaskWorkflow.Of3<I, A, B, C, T> body) {
            return new NewTask<>(
                    tasks.returning(
                            name,
                            body,
                            (ctx, task, outputs) -> body.call(
                                    ctx,
                                    TaskCasts.context(task),
                                    TaskCasts.output(outputs, 0),
                                    TaskCasts.output(outputs, 1),
                                    TaskCasts.output(outputs, 2))),
                    Of3::code);
        }

        /** A task that is a workflow, without an output. */
        public NewTask<@Nullable Void, TaskBody.Of3<I, A, B, C, Boolean>> runWorkflow(
                String name, TaskRoutine.Of3<I, A, B, C> routine) {
            return new NewTask<>(
                    tasks.returningNothing(name, routine, (ctx, task, outputs) -> {
                        routine.run(
                                ctx,
                                TaskCasts.context(task),
                                TaskCasts.output(outputs, 0),
                                TaskCasts.output(outputs, 1),
                                TaskCasts.output(outputs, 2));
                        return null;
                    }),
                    Of3::code);
        }

        private static <
                        I extends @Nullable Object,
                        A extends @Nullable Object,
                        B extends @Nullable Object,
                        C extends @Nullable Object>
                TaskCode.Body code(TaskBody.Of3<I, A, B, C, ?> body) {
            return (task, outputs) -> body.call(
                    TaskCasts.context(task),
                    TaskCasts.output(outputs, 0),
                    TaskCasts.output(outputs, 1),
                    TaskCasts.output(outputs, 2));
        }
    }

    /**
     * Four tasks.
     *
     * @param <I> the input of the DAG
     * @param <A> the output of the first task
     * @param <B> the output of the second task
     * @param <C> the output of the third task
     * @param <D> the output of the fourth task
     */
    public static final class Of4<
            I extends @Nullable Object,
            A extends @Nullable Object,
            B extends @Nullable Object,
            C extends @Nullable Object,
            D extends @Nullable Object> {
        private final TaskDefiner tasks;

        Of4(TaskDefiner tasks) {
            this.tasks = tasks;
        }

        /** A task whose output is what the code returns. */
        public <T extends @Nullable Object> NewTask<T, TaskBody.Of4<I, A, B, C, D, Boolean>> task(
                String name, TaskBody.Of4<I, A, B, C, D, T> body) {
            return new NewTask<>(tasks.returning(name, body, code(body)), Of4::code);
        }

        /** A task without an output. */
        public NewTask<@Nullable Void, TaskBody.Of4<I, A, B, C, D, Boolean>> run(
                String name, TaskAction.Of4<I, A, B, C, D> action) {
            return new NewTask<>(
                    tasks.returningNothing(name, action, (task, outputs) -> {
                        action.run(
                                TaskCasts.context(task),
                                TaskCasts.output(outputs, 0),
                                TaskCasts.output(outputs, 1),
                                TaskCasts.output(outputs, 2),
                                TaskCasts.output(outputs, 3));
                        return null;
                    }),
                    Of4::code);
        }

        /** A task that is a workflow; its output is what the workflow returns. */
        public <T extends @Nullable Object> NewTask<T, TaskBody.Of4<I, A, B, C, D, Boolean>> workflow(
                String name, TaskWorkflow.Of4<I, A, B, C, D, T> body) {
            return new NewTask<>(
                    tasks.returning(
                            name,
                            body,
                            (ctx, task, outputs) -> body.call(
                                    ctx,
                                    TaskCasts.context(task),
                                    TaskCasts.output(outputs, 0),
                                    TaskCasts.output(outputs, 1),
                                    TaskCasts.output(outputs, 2),
                                    TaskCasts.output(outputs, 3))),
                    Of4::code);
        }

        /** A task that is a workflow, without an output. */
        public NewTask<@Nullable Void, TaskBody.Of4<I, A, B, C, D, Boolean>> runWorkflow(
                String name, TaskRoutine.Of4<I, A, B, C, D> routine) {
            return new NewTask<>(
                    tasks.returningNothing(name, routine, (ctx, task, outputs) -> {
                        routine.run(
                                ctx,
                                TaskCasts.context(task),
                                TaskCasts.output(outputs, 0),
                                TaskCasts.output(outputs, 1),
                                TaskCasts.output(outputs, 2),
                                TaskCasts.output(outputs, 3));
                        return null;
                    }),
                    Of4::code);
        }

        private static <
                        I extends @Nullable Object,
                        A extends @Nullable Object,
                        B extends @Nullable Object,
                        C extends @Nullable Object,
                        D extends @Nullable Object>
                TaskCode.Body code(TaskBody.Of4<I, A, B, C, D, ?> body) {
            return (task, outputs) -> body.call(
                    TaskCasts.context(task),
                    TaskCasts.output(outputs, 0),
                    TaskCasts.output(outputs, 1),
                    TaskCasts.output(outputs, 2),
                    TaskCasts.output(outputs, 3));
        }
    }

    /**
     * Any number of tasks with the same output type.
     *
     * @param <I> the input of the DAG
     * @param <A> the output of each task
     */
    public static final class OfAll<I extends @Nullable Object, A extends @Nullable Object> {
        private final TaskDefiner tasks;

        OfAll(TaskDefiner tasks) {
            this.tasks = tasks;
        }

        /** A task whose output is what the code returns. */
        public <T extends @Nullable Object> NewTask<T, TaskBody.OfAll<I, A, Boolean>> task(
                String name, TaskBody.OfAll<I, A, T> body) {
            return new NewTask<>(tasks.returning(name, body, code(body)), OfAll::code);
        }

        /** A task without an output. */
        public NewTask<@Nullable Void, TaskBody.OfAll<I, A, Boolean>> run(String name, TaskAction.OfAll<I, A> action) {
            return new NewTask<>(
                    tasks.returningNothing(name, action, (task, outputs) -> {
                        action.run(TaskCasts.context(task), TaskCasts.outputs(outputs));
                        return null;
                    }),
                    OfAll::code);
        }

        /** A task that is a workflow; its output is what the workflow returns. */
        public <T extends @Nullable Object> NewTask<T, TaskBody.OfAll<I, A, Boolean>> workflow(
                String name, TaskWorkflow.OfAll<I, A, T> body) {
            return new NewTask<>(
                    tasks.returning(
                            name,
                            body,
                            (ctx, task, outputs) ->
                                    body.call(ctx, TaskCasts.context(task), TaskCasts.outputs(outputs))),
                    OfAll::code);
        }

        /** A task that is a workflow, without an output. */
        public NewTask<@Nullable Void, TaskBody.OfAll<I, A, Boolean>> runWorkflow(
                String name, TaskRoutine.OfAll<I, A> routine) {
            return new NewTask<>(
                    tasks.returningNothing(name, routine, (ctx, task, outputs) -> {
                        routine.run(ctx, TaskCasts.context(task), TaskCasts.outputs(outputs));
                        return null;
                    }),
                    OfAll::code);
        }

        private static <I extends @Nullable Object, A extends @Nullable Object> TaskCode.Body code(
                TaskBody.OfAll<I, A, ?> body) {
            return (task, outputs) -> body.call(TaskCasts.context(task), TaskCasts.outputs(outputs));
        }
    }
}
