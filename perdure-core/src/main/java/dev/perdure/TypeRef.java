package dev.perdure;

import dev.perdure.error.DefinitionException;
import dev.perdure.internal.text.Texts;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;

/**
 * A type with its type arguments, which a {@link Class} cannot express: {@code new TypeRef<List<Order>>() {}}.
 *
 * @param <T> the type
 */
public abstract class TypeRef<T> {
    private final Type type;

    /** Reads the type from the subclass: {@code new TypeRef<List<Order>>() {}}. */
    protected TypeRef() {
        if (!(getClass().getGenericSuperclass() instanceof ParameterizedType self)) {
            throw new DefinitionException("TypeRef was used without its type. Write new TypeRef<List<Order>>() {}.");
        }
        this.type = self.getActualTypeArguments()[0];
    }

    private TypeRef(Type type) {
        this.type = type;
    }

    /** The type of a class without type parameters. */
    public static <T> TypeRef<T> of(Class<T> type) {
        Texts.requireGiven("type", type);
        return new TypeRef<>(type) {};
    }

    /** The type, for reflection. */
    public final Type type() {
        return type;
    }

    @Override
    public final String toString() {
        return type.getTypeName();
    }
}
