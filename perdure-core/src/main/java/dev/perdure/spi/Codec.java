package dev.perdure.spi;

import dev.perdure.error.PayloadException;
import dev.perdure.spi.change.Payload;
import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;

/**
 * Turns values into bytes and back. The type always comes from a registered signature or a call in the code, never from
 * the data. Implementations are thread-safe and throw {@link PayloadException} for what they cannot do.
 */
public interface Codec {
    /** The bytes of a value that is declared as {@code type}. */
    Payload encode(@Nullable Object value, Type type);

    /** The value that {@link #encode} was given. */
    @Nullable
    Object decode(Payload payload, Type type);

    /**
     * Reads back what was just encoded, more strictly than {@link #decode}: anything that the declared type would lose is
     * refused now, when it is first recorded, and not at the first replay.
     *
     * @return the value as every replay will see it
     */
    @Nullable
    Object verify(@Nullable Object value, Payload payload, Type type);

    /**
     * Checks when a definition is registered that values of this type can be stored and read back, as far as that shows
     * without a value.
     */
    void check(Type type);
}
