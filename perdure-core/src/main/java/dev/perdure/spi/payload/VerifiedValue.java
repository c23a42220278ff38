package dev.perdure.spi.payload;

import dev.perdure.error.PayloadException;
import dev.perdure.spi.Codec;
import java.lang.reflect.Type;
import java.util.Collection;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What a {@link Codec} checks when it verifies a value, whatever it writes. */
public final class VerifiedValue {
    private VerifiedValue() {}

    /**
     * The value as it was read back.
     *
     * @throws PayloadException if the class of the value was lost
     */
    public static @Nullable Object of(@Nullable Object value, @Nullable Object back, Type type) {
        if (value != null && (back == null || !sameKind(value, back))) {
            throw new PayloadException("A %s is read back as %s by its declared type %s."
                    .formatted(
                            value.getClass().getName(),
                            back == null ? "null" : back.getClass().getName(),
                            type.getTypeName()));
        }
        return back;
    }

    private static boolean sameKind(Object value, Object back) {
        return value.getClass() == back.getClass()
                || (value instanceof Enum<?> && value.equals(back))
                || (value instanceof Collection<?> && back instanceof Collection<?>)
                || (value instanceof Map<?, ?> && back instanceof Map<?, ?>)
                || hiddenByTheJdk(value.getClass(), back.getClass());
    }

    /** Hidden subclasses of JDK types, such as those of Path or ZoneId. */
    private static boolean hiddenByTheJdk(Class<?> one, Class<?> other) {
        return isJdk(one)
                && isJdk(other)
                && one.getSuperclass() == other.getSuperclass()
                && one.getSuperclass() != Object.class
                && one.getSuperclass() != Number.class;
    }

    /** Whether a class belongs to the JDK. */
    public static boolean isJdk(Class<?> type) {
        return Stream.of("java.", "javax.", "sun.").anyMatch(type.getName()::startsWith);
    }
}
