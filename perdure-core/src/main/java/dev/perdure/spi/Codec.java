package dev.perdure.spi;

import dev.perdure.error.PayloadException;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.payload.PayloadOutput;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
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
     * Encodes a value as {@link #encode(Object, Type)} does, without having all of it in memory at once. Override it, and
     * the two methods that read from a stream, if values may be large. The engine may encode a large value twice.
     */
    default void encode(@Nullable Object value, Type type, PayloadOutput output) {
        output.write(encode(value, type));
    }

    /** Decodes a large value. Reading from the stream throws no {@code IOException}. */
    default @Nullable Object decode(InputStream encoded, Type type) {
        return decode(all(encoded), type);
    }

    /** As {@link #verify(Object, Payload, Type)}, for a large value. */
    default @Nullable Object verify(@Nullable Object value, InputStream encoded, Type type) {
        return verify(value, all(encoded), type);
    }

    private static Payload all(InputStream encoded) {
        try {
            return new Payload(encoded.readAllBytes());
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }

    /**
     * Checks that values of this type can be encoded and decoded, as far as the type alone shows it. The engine calls
     * it when the application registers a definition.
     */
    void check(Type type);
}
