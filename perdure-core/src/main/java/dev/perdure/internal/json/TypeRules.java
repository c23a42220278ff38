package dev.perdure.internal.json;

import com.fasterxml.jackson.annotation.JsonTypeInfo;
import dev.perdure.error.PayloadException;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.nio.file.Path;
import java.time.ZoneId;
import java.util.Arrays;
import java.util.Calendar;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.TimeZone;
import tools.jackson.databind.annotation.JsonDeserialize;

/** Decides which declared types can be read back without type information in the data. */
final class TypeRules {
    private static final Set<Class<?>> ABSTRACT_BUT_KNOWN =
            Set.of(Path.class, ZoneId.class, TimeZone.class, Calendar.class);

    private static final Set<String> ENTITY = Set.of("jakarta.persistence.Entity", "javax.persistence.Entity");

    private TypeRules() {}

    static void check(Type type) {
        switch (type) {
            case Class<?> plain -> checkClass(plain);
            case ParameterizedType generic -> {
                Class<?> raw = (Class<?>) generic.getRawType();
                if (!isContainer(raw)) {
                    checkInstantiable(raw);
                }
                Arrays.stream(generic.getActualTypeArguments()).forEach(TypeRules::check);
            }
            case GenericArrayType array -> check(array.getGenericComponentType());
            case WildcardType wildcard -> check(wildcard.getUpperBounds()[0]);
            case TypeVariable<?> variable ->
                throw refuse(type, "it is a type variable, whose type is not known when it is read back");
            default -> throw refuse(type, "it is not a class");
        }
    }

    private static void checkClass(Class<?> type) {
        if (type.isArray()) {
            check(type.getComponentType());
        } else if (type == Object.class) {
            throw refuse(type, "every value is an Object, so nothing says which class to read back");
        } else if (type.getTypeParameters().length > 0) {
            throw refuse(type, "it lacks its type arguments");
        } else if (isEntity(type)) {
            throw refuseEntity(type);
        } else {
            checkInstantiable(type);
        }
    }

    private static void checkInstantiable(Class<?> type) {
        boolean open = type.isInterface() || (Modifier.isAbstract(type.getModifiers()) && !type.isPrimitive());
        if (open && !type.isEnum() && !isContainer(type) && !saysItsSubtypes(type)) {
            throw refuse(
                    type,
                    "it is " + (type.isInterface() ? "an interface" : "an abstract class")
                            + ", and its implementation is not known when it is read back (make it sealed, or use a concrete class)");
        }
    }

    /** Whether it is an entity of JPA. The annotation is known by its name, because few applications have JPA. */
    static boolean isEntity(Class<?> type) {
        return Arrays.stream(type.getAnnotations())
                .anyMatch(annotation ->
                        ENTITY.contains(annotation.annotationType().getName()));
    }

    static PayloadException refuseEntity(Class<?> type) {
        return refuse(
                type,
                "it is a JPA entity, and its lazy fields and its identity belong to a persistence context that ends before the value is read back (use its id, or a record with the fields that are needed)");
    }

    private static boolean saysItsSubtypes(Class<?> type) {
        return SealedTypes.isOfSealed(type)
                || ABSTRACT_BUT_KNOWN.contains(type)
                || type.isAnnotationPresent(JsonTypeInfo.class)
                || type.isAnnotationPresent(JsonDeserialize.class)
                || type.getName().startsWith("tools.jackson.databind.");
    }

    private static boolean isContainer(Class<?> type) {
        return Collection.class.isAssignableFrom(type) || Map.class.isAssignableFrom(type) || type == Iterable.class;
    }

    private static PayloadException refuse(Type type, String why) {
        return new PayloadException("The type %s cannot be stored: %s.".formatted(type.getTypeName(), why));
    }
}
