package dev.perdure.internal.json;

import dev.perdure.spi.Codec;
import dev.perdure.spi.change.Payload;
import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;

/**
 * An application's codec, which may use the very array of a payload as a value or as part of one. It gets and gives copies, so
 * that code that changes such a value does not change what is recorded, nor what another call of a virtual object begins with.
 */
public final class CopyingCodec implements Codec {
    private final Codec codec;

    /** Around this one. */
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
