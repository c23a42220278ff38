package dev.perdure.internal.json;

import com.fasterxml.jackson.annotation.JsonTypeInfo;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.cfg.MapperConfig;
import tools.jackson.databind.introspect.Annotated;
import tools.jackson.databind.introspect.AnnotatedClass;
import tools.jackson.databind.introspect.JacksonAnnotationIntrospector;

/**
 * Lets sealed types be stored without annotations: the simple name of the permitted class goes into the property
 * {@code @type}. The set is closed by the compiler, so no class ever comes from the data.
 */
final class SealedTypes extends JacksonAnnotationIntrospector {
    private static final long serialVersionUID = 1L;

    private static final JsonTypeInfo.Value BY_NAME = JsonTypeInfo.Value.construct(
            JsonTypeInfo.Id.SIMPLE_NAME, JsonTypeInfo.As.PROPERTY, "@type", null, false, true, null);

    @Override
    public JsonTypeInfo.@Nullable Value findPolymorphicTypeInfo(MapperConfig<?> config, Annotated annotated) {
        JsonTypeInfo.Value declared = super.findPolymorphicTypeInfo(config, annotated);
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
