package dev.perdure;

import dev.perdure.dag.Dag;
import dev.perdure.internal.text.Texts;
import org.jspecify.annotations.Nullable;

/**
 * What to run, with which input and which result. Every method that starts runs takes it:
 * {@link Perdure#start(Invocation)}, {@link Perdure#startAll}, {@link WorkflowContext#call(Invocation)},
 * {@link WorkflowContext#startChild(Invocation)}, {@link WorkflowContext#spawn} and
 * {@link Outbox#start(Invocation, StartOptions)}.
 *
 * <pre>{@code
 * perdure.start(Invocation.of(Reports::nightly), id("report-2030-01-01"));
 * ctx.startChild(Invocation.of(Shipping::ship, parcel), childId("parcel-7"));
 * ctx.spawn(Invocation.of(FULFILMENT, order), id("order-42"));
 * }</pre>
 *
 * <p>A method is named by a method reference, never by a lambda. The compiler chooses between the forms with and
 * without a result by the method. It cannot choose if the class has several methods of that name, and reports an
 * ambiguous call: give the methods different names, or cast the reference, such as {@code
 * (WorkflowMethod.Function<Orders, Order, Receipt>) Orders::process}.
 *
 * <p>Immutable.
 *
 * @param <R> what the run returns; {@link Void} for nothing
 */
@SuppressWarnings("overloads") // an exact method reference fits one of them only
public sealed interface Invocation<R extends @Nullable Object> {
    /** The input; null if there is none. */
    @Nullable
    Object input();

    /** Runs a workflow method with an input and a result. */
    static <W, I extends @Nullable Object, R extends @Nullable Object> Invocation<R> of(
            WorkflowMethod.Function<W, I, R> method, I input) {
        return new OfMethod<>(method, input);
    }

    /** Runs a workflow method with an input and no result. */
    static <W, I extends @Nullable Object> Invocation<@Nullable Void> of(
            WorkflowMethod.Consumer<W, I> method, I input) {
        return new OfMethod<>(method, input);
    }

    /** Runs a workflow method with a result and no input. */
    static <W, R extends @Nullable Object> Invocation<R> of(WorkflowMethod.Supplier<W, R> method) {
        return new OfMethod<>(method, null);
    }

    /** Runs a workflow method with neither input nor result. */
    static <W> Invocation<@Nullable Void> of(WorkflowMethod.Action<W> method) {
        return new OfMethod<>(method, null);
    }

    /** Runs a workflow that is a value. */
    static <I extends @Nullable Object, R extends @Nullable Object> Invocation<R> of(
            Definition<I, R> definition, I input) {
        return new OfDefinition<>(definition, input);
    }

    /** Runs a DAG. */
    static <I extends @Nullable Object, R extends @Nullable Object> Invocation<R> of(Dag<I, R> dag, I input) {
        return new OfDag<>(dag, input);
    }

    /**
     * Runs a workflow by its name. If the definition is not registered in this process, a worker that has it runs it. A
     * DAG can be started by its name only where it is registered, because its tasks start with it.
     *
     * @param definition the name
     * @param input encoded as the input type of the definition if it is registered here, otherwise as its own class
     * @param result what the run returns; {@code TypeRef.of(Void.class)} for nothing
     */
    static <R extends @Nullable Object> Invocation<R> of(String definition, @Nullable Object input, TypeRef<R> result) {
        Texts.requireGiven("result type", result);
        return new OfName<>(definition, input, result);
    }

    /**
     * A workflow method.
     *
     * @param method names it
     * @param input the input, or null
     * @param <R> what it returns
     */
    record OfMethod<R extends @Nullable Object>(
            WorkflowMethod method, @Nullable Object input) implements Invocation<R> {}

    /**
     * A workflow that is a value.
     *
     * @param definition the workflow
     * @param input the input, or null
     * @param <R> what it returns
     */
    record OfDefinition<R extends @Nullable Object>(
            Definition<?, R> definition, @Nullable Object input) implements Invocation<R> {}

    /**
     * A DAG.
     *
     * @param dag the DAG
     * @param input the input, or null
     * @param <R> what it returns
     */
    record OfDag<R extends @Nullable Object>(
            Dag<?, R> dag, @Nullable Object input) implements Invocation<R> {}

    /**
     * A workflow by its name.
     *
     * @param definition the name
     * @param input the input, or null
     * @param result what it returns
     * @param <R> the type that it returns
     */
    record OfName<R extends @Nullable Object>(
            String definition, @Nullable Object input, TypeRef<R> result) implements Invocation<R> {}
}
