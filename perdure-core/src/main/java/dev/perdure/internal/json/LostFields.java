package dev.perdure.internal.json;

import com.fasterxml.jackson.annotation.JsonIgnore;
import dev.perdure.error.PayloadException;
import dev.perdure.spi.payload.VerifiedValue;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import tools.jackson.databind.BeanDescription;
import tools.jackson.databind.SerializationConfig;
import tools.jackson.databind.ser.BeanPropertyWriter;
import tools.jackson.databind.ser.ValueSerializerModifier;

/**
 * Refuses classes with fields that JSON would lose: a private field without a getter would be read back empty, without
 * an error. A field may have another name than its property, so a class is refused only if it has more such fields than
 * properties without a field. It refuses entities of JPA as well, wherever they are in a value.
 */
final class LostFields extends ValueSerializerModifier {
    private static final long serialVersionUID = 1L;

    @Override
    public List<BeanPropertyWriter> changeProperties(
            SerializationConfig config, BeanDescription.Supplier described, List<BeanPropertyWriter> properties) {
        if (TypeRules.isEntity(described.getBeanClass())) {
            throw TypeRules.refuseEntity(described.getBeanClass());
        }
        Set<String> named = new HashSet<>();
        for (BeanPropertyWriter property : properties) {
            named.add(property.getName());
            named.add(property.getMember().getName());
        }
        Set<String> ignored = described.get().getIgnoredPropertyNames();
        List<String> unnamed = new ArrayList<>();
        int fields = 0;
        for (Class<?> type = described.getBeanClass();
                type != null && !VerifiedValue.isJdk(type);
                type = type.getSuperclass()) {
            for (Field field : type.getDeclaredFields()) {
                if (isState(field) && !ignored.contains(field.getName())) {
                    fields++;
                    if (!named.contains(field.getName())) {
                        unnamed.add(field.getName());
                    }
                }
            }
        }
        int otherProperties = properties.size() - (fields - unnamed.size());
        if (unnamed.size() > Math.max(0, otherProperties)) {
            throw new PayloadException(
                    "The type %s cannot be stored: its field '%s' would be lost, because it is no property. Use a record, give it a getter and a way to be set, or make it transient."
                            .formatted(described.getBeanClass().getName(), unnamed.getFirst()));
        }
        return properties;
    }

    private static boolean isState(Field field) {
        return !Modifier.isStatic(field.getModifiers())
                && !Modifier.isTransient(field.getModifiers())
                && !field.isSynthetic()
                && !field.isAnnotationPresent(JsonIgnore.class);
    }
}
