package dev.perdure;

import dev.perdure.internal.text.StartField;
import dev.perdure.internal.text.Texts;
import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;

/**
 * A workflow as a value: the alternative to a method with {@link Workflow}.
 *
 * <pre>{@code
 * static final Definition<Order, Receipt> ORDER =
 *         Definition.of("order", Order.class, Receipt.class, (ctx, order) -> …);
 * }</pre>
 *
 * @param <I> the input of a run
 * @param <R> the result of a run; {@link Void} if it has none
 */
public final class Definition<I extends @Nullable Object, R extends @Nullable Object> {
    /** The longest name of a definition, in characters. */
    public static final int MAX_NAME_LENGTH = 100;

    private final String name;
    private final Type inputType;
    private final Type resultType;
    private final WorkflowBody<I, R> body;
    private final boolean pinned;

    private Definition(String name, Type inputType, Type resultType, WorkflowBody<I, R> body, boolean pinned) {
        this.name = StartField.DEFINITION.require(name);
        this.inputType = inputType;
        this.resultType = resultType;
        this.body = body;
        this.pinned = pinned;
    }

    /** For stores: refuses a text that names no definition. */
    public static void checkName(@Nullable String name) {
        StartField.DEFINITION.require(name);
    }

    /** A definition whose input and result are classes without type parameters. */
    public static <I extends @Nullable Object, R extends @Nullable Object> Definition<I, R> of(
            String name, Class<I> input, Class<R> result, WorkflowBody<I, R> body) {
        Texts.requireGiven("body", body);
        Texts.requireGiven("result type", result);
        Texts.requireGiven("input type", input);
        return new Definition<>(name, input, result, body, false);
    }

    /** A definition whose input or result has type parameters. */
    public static <I extends @Nullable Object, R extends @Nullable Object> Definition<I, R> of(
            String name, TypeRef<I> input, TypeRef<R> result, WorkflowBody<I, R> body) {
        Texts.requireGiven("body", body);
        Texts.requireGiven("result type", result);
        Texts.requireGiven("input type", input);
        return new Definition<>(name, input.type(), result.type(), body, false);
    }

    /** A definition without a result, whose input is a class without type parameters. */
    public static <I extends @Nullable Object> Definition<I, @Nullable Void> of(
            String name, Class<I> input, VoidBody<I> body) {
        Texts.requireGiven("body", body);
        Texts.requireGiven("input type", input);
        return of(name, TypeRef.of(input), body);
    }

    /** A definition without a result, whose input has type parameters. */
    public static <I extends @Nullable Object> Definition<I, @Nullable Void> of(
            String name, TypeRef<I> input, VoidBody<I> body) {
        Texts.requireGiven("body", body);
        Texts.requireGiven("input type", input);
        WorkflowBody<I, @Nullable Void> withoutResult = (ctx, value) -> {
            body.run(ctx, value);
            return null;
        };
        return new Definition<>(name, input.type(), Void.class, withoutResult, false);
    }

    /**
     * The function of a definition without a result.
     *
     * @param <I> its input
     */
    @FunctionalInterface
    public interface VoidBody<I extends @Nullable Object> {
        /** Runs the workflow. The engine calls it again, from the top, to replay a run. */
        void run(WorkflowContext ctx, I input) throws Exception;
    }

    /**
     * The same definition, whose runs stay with the version of the worker that begins them: only workers of that version
     * continue them. The worker needs a version ({@link PerdureBuilder#version}). Without this, a worker of any version
     * continues a run.
     */
    public Definition<I, R> pinned() {
        return new Definition<>(name, inputType, resultType, body, true);
    }

    /** Whether its runs stay with the version of the worker that begins them. */
    public boolean isPinned() {
        return pinned;
    }

    /** The name under which the store keeps the runs. */
    public String name() {
        return name;
    }

    /** The type of the input. */
    public Type inputType() {
        return inputType;
    }

    /** The type of the result. */
    public Type resultType() {
        return resultType;
    }

    /** The function that runs. */
    public WorkflowBody<I, R> body() {
        return body;
    }

    @Override
    public String toString() {
        return "Definition[" + name + "]";
    }
}
