package dev.perdure.spi;

import dev.perdure.error.PayloadException;
import dev.perdure.spi.change.Payload;
import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;

/**
 * Turns values into bytes and back. The type always comes from a registered signature or from a call in the code, never
 * from the data. Implementations are thread-safe. They throw {@link PayloadException} for a value that they cannot
 * encode or decode.
 */
public interface Codec {
    /** Encodes a value that is declared as {@code type}. */
    Payload encode(@Nullable Object value, Type type);

    /** Decodes what {@link #encode} returned. */
    @Nullable
    Object decode(Payload payload, Type type);

    /**
     * Decodes what {@link #encode} has just returned, more strictly than {@link #decode}. It refuses a value of which
     * the declared type would lose something. So the failure shows when the engine first records the value, not at the
     * first replay.
     *
     * @return the value as every replay sees it
     */
    @Nullable
    Object verify(@Nullable Object value, Payload payload, Type type);

    /**
     * Checks that values of this type can be encoded and decoded, as far as the type alone shows it. The engine calls
     * it when the application registers a definition.
     */
    void check(Type type);
}
