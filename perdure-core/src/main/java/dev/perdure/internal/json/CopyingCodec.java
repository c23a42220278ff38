package dev.perdure.internal.json;

import dev.perdure.spi.Codec;
import dev.perdure.spi.change.Payload;
import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;

/**
 * Wraps an application's codec, which may use the array of a payload as a value or as part of one. The codec gets
 * copies, and this class copies what the codec returns. So code that changes such a value changes neither what is
 * recorded nor the state with which another call of a virtual object begins.
 */
public final class CopyingCodec implements Codec {
    private final Codec codec;

    /** Wraps this codec. */
    public CopyingCodec(Codec codec) {
        this.codec = codec;
    }

    private static Payload copy(Payload payload) {
        return new Payload(payload.bytes().clone());
    }

    @Override
    public Payload encode(@Nullable Object value, Type type) {
        return copy(codec.encode(value, type));
    }

    @Override
    public @Nullable Object decode(Payload payload, Type type) {
        return codec.decode(copy(payload), type);
    }

    @Override
    public @Nullable Object verify(@Nullable Object value, Payload payload, Type type) {
        return codec.verify(value, copy(payload), type);
    }

    @Override
    public void check(Type type) {
        codec.check(type);
    }
}
