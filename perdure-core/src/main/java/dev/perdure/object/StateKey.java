package dev.perdure.object;

import dev.perdure.TypeRef;
import dev.perdure.internal.text.Names;
import dev.perdure.internal.text.Texts;
import java.lang.reflect.Type;

/**
 * The name and type of one value in the state of a virtual object. Make it a constant of the object's class:
 *
 * <pre>{@code
 * private static final StateKey<List<Item>> ITEMS = StateKey.of("items", new TypeRef<>() {});
 * }</pre>
 *
 * @param name the name
 * @param valueType the type of the value
 * @param <T> the type of the value
 */
public record StateKey<T>(String name, TypeRef<T> valueType) {
    private static final int MAX_NAME = 200;

    /** Checks the name. */
    public StateKey {
        Names.require("state key", name, MAX_NAME);
    }

    /** A key for values of a class without type parameters. */
    public static <T> StateKey<T> of(String name, Class<T> type) {
        Texts.requireGiven("type", type);
        return new StateKey<>(name, TypeRef.of(type));
    }

    /** A key for values of any type. */
    public static <T> StateKey<T> of(String name, TypeRef<T> type) {
        Texts.requireGiven("type", type);
        return new StateKey<>(name, type);
    }

    /** The type of the value, for reflection. */
    public Type type() {
        return valueType.type();
    }

    @Override
    public String toString() {
        return name;
    }
}
