package dev.perdure.jackson2;

import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.databind.annotation.JsonDeserialize;
import dev.perdure.error.PayloadException;
import dev.perdure.spi.payload.VerifiedValue;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.WildcardType;
import java.util.Arrays;
import java.util.Collection;
import java.util.Map;
import java.util.Set;

/** Refuses declared types that do not say which class to read back, and entities of JPA. */
final class OpenTypes {
    private static final Set<String> ENTITY = Set.of("jakarta.persistence.Entity", "javax.persistence.Entity");

    private OpenTypes() {}

    static void refuse(Type type) {
        switch (type) {
            case Class<?> plain -> refuseClass(plain);
            case ParameterizedType generic -> {
                refuseOpen((Class<?>) generic.getRawType());
                Arrays.stream(generic.getActualTypeArguments()).forEach(OpenTypes::refuse);
            }
            case GenericArrayType array -> refuse(array.getGenericComponentType());
            case WildcardType wildcard -> refuse(wildcard.getUpperBounds()[0]);
            default -> throw refused(type, "its type is not known when it is read back");
        }
    }

    private static void refuseClass(Class<?> type) {
        if (type.isArray()) {
            refuse(type.getComponentType());
        } else if (type == Object.class) {
            throw refused(type, "every value is an Object, so nothing says which class to read back");
        } else if (type.getTypeParameters().length > 0) {
            throw refused(type, "it lacks its type arguments");
        } else if (isEntity(type)) {
            throw refused(
                    type,
                    "it is a JPA entity, and its lazy fields and its identity belong to a persistence context that ends before the value is read back (use its id, or a record with the fields that are needed)");
        } else {
            refuseOpen(type);
        }
    }

    private static boolean isEntity(Class<?> type) {
        return Arrays.stream(type.getAnnotations())
                .anyMatch(annotation ->
                        ENTITY.contains(annotation.annotationType().getName()));
    }

    private static void refuseOpen(Class<?> type) {
        boolean open = type.isInterface() || (Modifier.isAbstract(type.getModifiers()) && !type.isPrimitive());
        if (open && !type.isEnum() && !isKnown(type)) {
            throw refused(
                    type,
                    "it is %s, and its implementation is not known when it is read back (annotate it with @JsonTypeInfo and @JsonSubTypes, or use a concrete class)"
                            .formatted(type.isInterface() ? "an interface" : "an abstract class"));
        }
    }

    private static boolean isKnown(Class<?> type) {
        return Collection.class.isAssignableFrom(type)
                || Map.class.isAssignableFrom(type)
                || (VerifiedValue.isJdk(type) && type != Number.class && !type.isInterface())
                || type.isAnnotationPresent(JsonTypeInfo.class)
                || type.isAnnotationPresent(JsonDeserialize.class)
                || type.getName().startsWith("com.fasterxml.jackson.databind.");
    }

    private static PayloadException refused(Type type, String why) {
        return new PayloadException("The type %s cannot be stored: %s.".formatted(type.getTypeName(), why));
    }
}
