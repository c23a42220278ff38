package dev.perdure;

import dev.perdure.internal.text.Names;
import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;

/**
 * A workflow as a value, for people who like values better than annotations.
 *
 * <pre>{@code
 * static final Definition<Order, Receipt> ORDER =
 *         Definition.of("order", Order.class, Receipt.class, (ctx, order) -> …);
 * }</pre>
 *
 * @param <I> what a run takes
 * @param <R> what a run returns; {@link Void} for nothing
 */
public final class Definition<I extends @Nullable Object, R extends @Nullable Object> {
    /** The longest name of a definition, in characters. */
    public static final int MAX_NAME_LENGTH = 100;

    private final String name;
    private final Type inputType;
    private final Type resultType;
    private final WorkflowBody<I, R> body;

    private Definition(String name, Type inputType, Type resultType, WorkflowBody<I, R> body) {
        this.name = Names.require("definition name", name, MAX_NAME_LENGTH);
        this.inputType = inputType;
        this.resultType = resultType;
        this.body = body;
    }

    /** A definition whose types are plain classes. */
    public static <I extends @Nullable Object, R extends @Nullable Object> Definition<I, R> of(
            String name, Class<I> input, Class<R> result, WorkflowBody<I, R> body) {
        return new Definition<>(name, input, result, body);
    }

    /** A definition whose types have generics. */
    public static <I extends @Nullable Object, R extends @Nullable Object> Definition<I, R> of(
            String name, TypeRef<I> input, TypeRef<R> result, WorkflowBody<I, R> body) {
        return new Definition<>(name, input.type(), result.type(), body);
    }

    /** A definition that gives nothing. */
    public static <I extends @Nullable Object> Definition<I, @Nullable Void> ofVoid(
            String name, Class<I> input, VoidBody<I> body) {
        return new Definition<>(name, input, Void.class, (ctx, value) -> {
            body.run(ctx, value);
            return null;
        });
    }

    /**
     * The function of a definition that gives nothing.
     *
     * @param <I> its input
     */
    @FunctionalInterface
    public interface VoidBody<I extends @Nullable Object> {
        /** Runs, or runs again from the top after a pause. */
        void run(WorkflowContext ctx, I input) throws Exception;
    }

    /** The name that runs are stored under. */
    public String name() {
        return name;
    }

    /** What a run takes. */
    public Type inputType() {
        return inputType;
    }

    /** What a run returns. */
    public Type resultType() {
        return resultType;
    }

    /** The function. */
    public WorkflowBody<I, R> body() {
        return body;
    }

    @Override
    public String toString() {
        return "Definition[" + name + "]";
    }
}
