package dev.perdure;

import dev.perdure.internal.text.Names;
import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;

/**
 * A name with a type: what messages, promises, events and published values go by. Make it a constant that sender and
 * receiver share, so that they cannot mean different types:
 *
 * <pre>{@code
 * static final Topic<Payment> PAYMENT = Topic.of("payment", Payment.class);
 * }</pre>
 *
 * @param name the name
 * @param valueType what goes by it
 * @param <T> the same
 */
public record Topic<T extends @Nullable Object>(String name, TypeRef<T> valueType) {
    private static final int MAX_NAME = 200;

    /** Checks the name. */
    public Topic {
        Names.require("topic", name, MAX_NAME);
    }

    /** A topic for values of a class without type parameters. */
    public static <T> Topic<T> of(String name, Class<T> type) {
        return new Topic<>(name, TypeRef.of(type));
    }

    /** A topic for values of any type: {@code Topic.of("lines", new TypeRef<List<Line>>() {})}. */
    public static <T extends @Nullable Object> Topic<T> of(String name, TypeRef<T> type) {
        return new Topic<>(name, type);
    }

    /** What goes by it, as reflection has it. */
    public Type type() {
        return valueType.type();
    }

    @Override
    public String toString() {
        return name;
    }
}
