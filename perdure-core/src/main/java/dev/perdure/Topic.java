package dev.perdure;

import dev.perdure.internal.text.Names;
import dev.perdure.internal.text.Texts;
import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;

/**
 * The name and type of messages, promises, events or published values. Make it a constant that sender and receiver
 * share, so that both use the same type:
 *
 * <pre>{@code
 * static final Topic<Payment> PAYMENT = Topic.of("payment", Payment.class);
 * }</pre>
 *
 * @param name the name
 * @param valueType the type of its values
 * @param <T> the type of its values
 */
public record Topic<T extends @Nullable Object>(String name, TypeRef<T> valueType) implements EventTopic<T> {
    private static final int MAX_NAME = 200;

    /** Checks the name. */
    public Topic {
        Names.require("topic", name, MAX_NAME);
    }

    /** A topic for values of a class without type parameters. */
    public static <T> Topic<T> of(String name, Class<T> type) {
        Texts.requireGiven("type", type);
        return new Topic<>(name, TypeRef.of(type));
    }

    /** A topic for values of any type: {@code Topic.of("lines", new TypeRef<List<Line>>() {})}. */
    public static <T extends @Nullable Object> Topic<T> of(String name, TypeRef<T> type) {
        Texts.requireGiven("type", type);
        return new Topic<>(name, type);
    }

    /** This topic with a key, for events that only some of the waiting runs should get. */
    public KeyedTopic<T> key(String key) {
        return new KeyedTopic<>(this, key);
    }

    /** The type of its values, for reflection. */
    public Type type() {
        return valueType.type();
    }

    @Override
    public String toString() {
        return name;
    }
}
