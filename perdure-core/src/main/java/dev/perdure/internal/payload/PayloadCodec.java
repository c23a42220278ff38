package dev.perdure.internal.payload;

import dev.perdure.error.MissingPayloadException;
import dev.perdure.error.PayloadException;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Codec;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.payload.PayloadOutput;
import dev.perdure.spi.payload.PayloadReference;
import dev.perdure.spi.payload.PayloadStore;
import java.io.InputStream;
import java.lang.reflect.Type;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The codec of an engine. It stores a large value in the payload store and returns a reference to it, and resolves the
 * references that it is given. So nothing else in the engine knows where a value is.
 *
 * <p>How it works. A value is encoded piece by piece. As long as it is small, its bytes are kept, and it becomes a
 * payload. A larger one is hashed first. If the payload store has it already, which is the rule when a run replays, that
 * is all. Otherwise it is encoded again, chunk by chunk into the payload store. So a large value needs one chunk of
 * memory, apart from itself, while it is written. While it is read, the {@link ReadingGate} bounds what all threads need.
 */
public final class PayloadCodec implements Codec {
    /** The values that are decoded at a time have this share of the heap together. */
    private static final int SHARE_OF_HEAP = 16;

    private final Codec codec;
    private final PayloadStore store;
    private final int inlineBytes;
    private final ReadingGate gate;
    private final Clockwork clockwork;

    private PayloadCodec(Codec codec, PayloadStore store, int inlineBytes, ReadingGate gate, Clockwork clockwork) {
        this.codec = codec;
        this.store = store;
        this.inlineBytes = inlineBytes;
        this.gate = gate;
        this.clockwork = clockwork;
    }

    /** Values of more than {@code inlineBytes} are large, and go to this store. */
    public static PayloadCodec of(Codec codec, PayloadStore store, int inlineBytes, Clockwork clockwork) {
        long room = Runtime.getRuntime().maxMemory() / SHARE_OF_HEAP;
        return new PayloadCodec(codec, store, inlineBytes, new ReadingGate(clockwork, room), clockwork);
    }

    /** The same, which reaches the payload store in another way. */
    public PayloadCodec through(UnaryOperator<PayloadStore> way) {
        return new PayloadCodec(codec, way.apply(store), inlineBytes, gate, clockwork);
    }

    /** The same, but it encodes values of any size in place. */
    public PayloadCodec inline() {
        return new PayloadCodec(codec, store, Integer.MAX_VALUE, gate, clockwork);
    }

    /** The store of large values. */
    public PayloadStore store() {
        return store;
    }

    // ---- encoding

    @Override
    public Payload encode(@Nullable Object value, Type type) {
        return encode(value, type, Integer.MAX_VALUE);
    }

    /**
     * Encodes a value.
     *
     * @param most how many bytes it may have
     * @throws PayloadException if it has more; nothing is written then
     */
    public Payload encode(@Nullable Object value, Type type, int most) {
        Draft draft = new Draft(inlineBytes);
        codec.encode(value, type, draft);
        if (draft.size() > most) {
            throw new PayloadException(
                    "it has %d bytes and the limit is %d. Store it elsewhere and pass a reference, or raise maxPayloadBytes."
                            .formatted(draft.size(), most));
        }
        return draft.isLarge() ? stored(value, type, draft.reference()).payload() : draft.payload();
    }

    /** Whether a payload is in place, or its large value is still there; if so, it stays for another hour. */
    public boolean keeps(Payload payload) {
        return PayloadReference.of(payload).map(store::keep).orElse(true);
    }

    private PayloadReference stored(@Nullable Object value, Type type, PayloadReference expected) {
        if (store.keep(expected)) {
            return expected;
        }
        while (true) {
            Optional<PayloadReference> written = uploaded(value, type);
            if (written.isPresent()) {
                return written.get();
            }
        }
    }

    private Optional<PayloadReference> uploaded(@Nullable Object value, Type type) {
        Upload upload = new Upload(store, () -> new UUID(clockwork.random(), clockwork.random()));
        boolean finished = false;
        try {
            codec.encode(value, type, upload);
            Optional<PayloadReference> written = upload.finish();
            finished = true;
            return written;
        } catch (RuntimeException maybeWrapped) {
            throw upload.failure().orElse(maybeWrapped);
        } finally {
            if (!finished) {
                upload.discard();
            }
        }
    }

    /** Writes the bytes of a value, large or not, without storing them. */
    @Override
    public void encode(@Nullable Object value, Type type, PayloadOutput output) {
        codec.encode(value, type, output);
    }

    // ---- decoding

    @Override
    public @Nullable Object decode(Payload payload, Type type) {
        return PayloadReference.is(payload)
                ? opened(payload, encoded -> codec.decode(encoded, type))
                : codec.decode(payload, type);
    }

    @Override
    public @Nullable Object verify(@Nullable Object value, Payload payload, Type type) {
        return PayloadReference.is(payload)
                ? opened(payload, encoded -> codec.verify(value, encoded, type))
                : codec.verify(value, payload, type);
    }

    /**
     * A value in place, wherever it was stored: for values inside others.
     *
     * @throws MissingPayloadException if the payload store does not have it
     */
    public Payload inlined(Payload payload) {
        Optional<PayloadReference> reference = PayloadReference.of(payload);
        if (reference.isEmpty()) {
            return payload;
        }
        byte[] bytes = new byte[Math.toIntExact(reference.get().size())];
        Download download = new Download(store, reference.get());
        for (int at = 0; at < bytes.length; ) {
            at += download.read(bytes, at, bytes.length - at);
        }
        return new Payload(bytes);
    }

    private <T extends @Nullable Object> T opened(Payload payload, Function<InputStream, T> reading) {
        PayloadReference reference = PayloadReference.of(payload).orElseThrow();
        Download download = new Download(store, reference);
        gate.enter(reference.size());
        try {
            return reading.apply(download);
        } catch (RuntimeException maybeWrapped) {
            throw download.failure().orElse(maybeWrapped);
        } finally {
            gate.leave(reference.size());
        }
    }

    @Override
    public void check(Type type) {
        codec.check(type);
    }
}
