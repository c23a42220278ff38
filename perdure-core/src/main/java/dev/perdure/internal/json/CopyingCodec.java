package dev.perdure.internal.json;

import dev.perdure.reaction.RunEvent;
import dev.perdure.spi.Codec;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.payload.PayloadOutput;
import java.io.InputStream;
import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;

/**
 * Wraps an application's codec, which may use the array of a payload as a value or as part of one. The codec gets
 * copies, and this class copies what the codec returns. So code that changes such a value changes neither what is
 * recorded nor the state with which another call of a virtual object begins.
 *
 * <p>The store writes a {@link RunEvent}, so that type is JSON whatever the application's codec is.
 */
public final class CopyingCodec implements Codec {
    private final Codec codec;
    private final Codec own = new JsonCodec();

    /** Wraps this codec. */
    public CopyingCodec(Codec codec) {
        this.codec = codec;
    }

    private Codec codecOf(Type type) {
        return type == RunEvent.class ? own : codec;
    }

    /** Copies a value that the codec writes as a whole. */
    private static final class Copied extends PayloadOutput {
        private final PayloadOutput output;

        Copied(PayloadOutput output) {
            this.output = output;
        }

        @Override
        public void write(byte[] bytes, int from, int length) {
            output.write(bytes, from, length);
        }

        @Override
        public void restart() {
            output.restart();
        }
    }

    private static Payload copy(Payload payload) {
        return new Payload(payload.bytes().clone());
    }

    @Override
    public Payload encode(@Nullable Object value, Type type) {
        return copy(codecOf(type).encode(value, type));
    }

    @Override
    public @Nullable Object decode(Payload payload, Type type) {
        return codecOf(type).decode(copy(payload), type);
    }

    @Override
    public @Nullable Object verify(@Nullable Object value, Payload payload, Type type) {
        return codecOf(type).verify(value, copy(payload), type);
    }

    @Override
    public void encode(@Nullable Object value, Type type, PayloadOutput output) {
        codecOf(type).encode(value, type, new Copied(output));
    }

    @Override
    public @Nullable Object decode(InputStream encoded, Type type) {
        return codecOf(type).decode(encoded, type);
    }

    @Override
    public @Nullable Object verify(@Nullable Object value, InputStream encoded, Type type) {
        return codecOf(type).verify(value, encoded, type);
    }

    @Override
    public void check(Type type) {
        codecOf(type).check(type);
    }
}
