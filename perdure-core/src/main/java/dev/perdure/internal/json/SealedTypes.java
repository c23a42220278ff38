package dev.perdure.internal.json;

import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.annotation.OptBoolean;
import dev.perdure.error.PayloadException;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.cfg.MapperConfig;
import tools.jackson.databind.introspect.Annotated;
import tools.jackson.databind.introspect.AnnotatedClass;
import tools.jackson.databind.introspect.JacksonAnnotationIntrospector;

/**
 * Lets sealed types be stored without annotations: the simple name of the permitted class goes into the property
 * {@code @type}. The set is closed by the compiler, so no class ever comes from the data. Refuses types whose
 * annotations let the data name a class: whoever can write a payload could create any object of such a type.
 */
final class SealedTypes extends JacksonAnnotationIntrospector {
    private static final long serialVersionUID = 1L;

    private static final Set<JsonTypeInfo.Id> BY_CLASS =
            EnumSet.of(JsonTypeInfo.Id.CLASS, JsonTypeInfo.Id.MINIMAL_CLASS);

    private static final JsonTypeInfo.Value BY_NAME =
            JsonTypeInfo.Value.from(SimpleName.class.getAnnotation(JsonTypeInfo.class));

    /**
     * The rule as an annotation, because the parameters of {@code Value.construct} differ between versions of the
     * annotations.
     */
    @JsonTypeInfo(
            use = JsonTypeInfo.Id.SIMPLE_NAME,
            include = JsonTypeInfo.As.PROPERTY,
            property = "@type",
            requireTypeIdForSubtypes = OptBoolean.TRUE)
    private interface SimpleName {}

    @Override
    public JsonTypeInfo.@Nullable Value findPolymorphicTypeInfo(MapperConfig<?> config, Annotated annotated) {
        JsonTypeInfo.Value declared = super.findPolymorphicTypeInfo(config, annotated);
        if (declared != null && BY_CLASS.contains(declared.getIdType())) {
            throw new PayloadException(
                    "The type %s cannot be stored: by its @JsonTypeInfo, the data would name the class to create. Make it a sealed interface, or use JsonTypeInfo.Id.NAME with @JsonSubTypes."
                            .formatted(annotated.getRawType().getTypeName()));
        }
        return declared == null && annotated instanceof AnnotatedClass type && isOfSealed(type.getRawType())
                ? BY_NAME
                : declared;
    }

    static boolean isOfSealed(@Nullable Class<?> type) {
        if (type == null || type == Object.class || type.isEnum()) {
            return false;
        }
        if (type.isSealed()) {
            return !type.getName().startsWith("java.");
        }
        if (isOfSealed(type.getSuperclass())) {
            return true;
        }
        for (Class<?> parent : type.getInterfaces()) {
            if (isOfSealed(parent)) {
                return true;
            }
        }
        return false;
    }
}
