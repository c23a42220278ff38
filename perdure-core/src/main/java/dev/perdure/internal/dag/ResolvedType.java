package dev.perdure.internal.dag;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A type whose arguments are known only when a DAG is registered.
 *
 * @param raw the class
 * @param arguments its type arguments
 */
record ResolvedType(Class<?> raw, List<Type> arguments) implements ParameterizedType {
    static ResolvedType of(Class<?> raw, Type... arguments) {
        return new ResolvedType(raw, Arrays.asList(arguments));
    }

    /** The argument of a type that has one. */
    static Type argumentOf(Type type) {
        if (type instanceof ParameterizedType generic) {
            return generic.getActualTypeArguments()[0];
        }
        throw new IllegalArgumentException("%s has no type argument.".formatted(type.getTypeName()));
    }

    @Override
    public Type[] getActualTypeArguments() {
        return arguments.toArray(Type[]::new);
    }

    @Override
    public Type getRawType() {
        return raw;
    }

    @Override
    public @Nullable Type getOwnerType() {
        return raw.getDeclaringClass();
    }

    @Override
    public String getTypeName() {
        return arguments.stream().map(Type::getTypeName).collect(Collectors.joining(", ", raw.getName() + "<", ">"));
    }

    @Override
    public String toString() {
        return getTypeName();
    }
}
