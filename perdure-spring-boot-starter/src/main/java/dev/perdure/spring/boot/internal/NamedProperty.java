package dev.perdure.spring.boot.internal;

import dev.perdure.error.InvalidRequestException;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

/** Sets up builders from properties, so that a value that a builder refuses is reported under the name of its property. */
public final class NamedProperty {
    /** What stands for a secret in the report. */
    private static final String SECRET = "(a secret)";

    private NamedProperty() {}

    /** Sets what a property says. If the builder refuses it, the exception names the property, and Boot its origin. */
    public static <B, V> B set(B builder, String property, @Nullable V value, BiFunction<B, V, B> setter) {
        return value == null ? builder : set(builder, property, value, value, setter);
    }

    /** The same for a secret, also for one that is missing. */
    public static <B, V extends @Nullable Object> B setSecret(
            B builder, String property, V value, BiFunction<B, V, B> setter) {
        return set(builder, property, value, SECRET, setter);
    }

    private static <B, V extends @Nullable Object> B set(
            B builder, String property, V value, Object shown, BiFunction<B, V, B> setter) {
        try {
            return setter.apply(builder, value);
        } catch (InvalidRequestException invalid) {
            throw new InvalidConfigurationPropertyValueException(property, shown, String.valueOf(invalid.getMessage()));
        }
    }
}
