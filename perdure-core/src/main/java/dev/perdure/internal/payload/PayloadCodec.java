package dev.perdure.internal.payload;

import dev.perdure.error.DecryptionException;
import dev.perdure.error.MissingPayloadException;
import dev.perdure.error.PayloadException;
import dev.perdure.spi.Clockwork;
import dev.perdure.spi.Codec;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.payload.EncryptedPayload;
import dev.perdure.spi.payload.PayloadOutput;
import dev.perdure.spi.payload.PayloadPlace;
import dev.perdure.spi.payload.PayloadReference;
import dev.perdure.spi.payload.PayloadStore;
import dev.perdure.spi.payload.PayloadTransform;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Type;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The codec of an engine. It stores a large value in the payload store and returns a reference to it, and resolves the
 * references that it is given. So nothing else in the engine knows where a value is. It also lets the application's
 * transform change the bytes; for that it has to be {@linkplain #at bound to a place}.
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
    private final @Nullable PayloadTransform transform;
    private final @Nullable PayloadPlace place;

    private PayloadCodec(
            Codec codec,
            PayloadStore store,
            int inlineBytes,
            ReadingGate gate,
            Clockwork clockwork,
            @Nullable PayloadTransform transform,
            @Nullable PayloadPlace place) {
        this.codec = codec;
        this.store = store;
        this.inlineBytes = inlineBytes;
        this.gate = gate;
        this.clockwork = clockwork;
        this.transform = transform;
        this.place = place;
    }

    /** Values of more than {@code inlineBytes} are large, and go to this store. */
    public static PayloadCodec of(Codec codec, PayloadStore store, int inlineBytes, Clockwork clockwork) {
        long room = Runtime.getRuntime().maxMemory() / SHARE_OF_HEAP;
        return new PayloadCodec(codec, store, inlineBytes, new ReadingGate(clockwork, room), clockwork, null, null);
    }

    /** The same, which has the bytes transformed. */
    public PayloadCodec transforming(@Nullable PayloadTransform other) {
        return new PayloadCodec(codec, store, inlineBytes, gate, clockwork, other, place);
    }

    /** The same for the values of a place. */
    public PayloadCodec at(PayloadPlace other) {
        return transform == null
                ? this
                : new PayloadCodec(codec, store, inlineBytes, gate, clockwork, transform, other);
    }

    /** Whether the bytes are transformed, so that a copy at another place is another payload. */
    public boolean transforms() {
        return transform != null;
    }

    /** Whether messages of exceptions must not be stored beside the values. */
    public boolean hidesTexts() {
        return transform != null && transform.hidesTexts();
    }

    /** The id of the key with which values are encrypted; empty if they are not. */
    public Optional<String> key() {
        return transform == null ? Optional.empty() : transform.key();
    }

    /** Whether the values of the attribute of this name are encrypted. */
    public boolean encryptsAttribute(String name) {
        return transform != null && transform.encryptsAttribute(name);
    }

    /** The same, which reaches the payload store in another way. */
    public PayloadCodec through(UnaryOperator<PayloadStore> way) {
        return new PayloadCodec(codec, way.apply(store), inlineBytes, gate, clockwork, transform, place);
    }

    /** The same, which reaches the transform in another way, if there is one. */
    public PayloadCodec transformingThrough(UnaryOperator<PayloadTransform> way) {
        return transform == null ? this : transforming(way.apply(transform));
    }

    /** The same, but it encodes values of any size in place. */
    public PayloadCodec inline() {
        return new PayloadCodec(codec, store, Integer.MAX_VALUE, gate, clockwork, transform, place);
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
        encode(value, type, draft);
        if (draft.size() > most) {
            throw new PayloadException(
                    "it has %s bytes and the limit is %s. Store it elsewhere and pass a reference, or raise maxPayloadBytes."
                            .formatted(draft.size(), most));
        }
        return draft.isLarge()
                ? stored(output -> encode(value, type, output), draft.reference())
                        .payload()
                : draft.payload();
    }

    /** The value of a payload at this place as a payload for another place. */
    public Payload moved(Payload payload, PayloadPlace to) {
        if (transform == null || payload.size() == 0 || to.equals(place)) {
            return payload;
        }
        return at(to).transformed(encoded(payload));
    }

    /** The id of the key with which a payload is encrypted; empty if it is not. Of a large one it reads the beginning. */
    public Optional<String> keyOf(Payload payload) {
        Payload beginning = PayloadReference.of(payload)
                .map(reference -> beginning(new Download(store, reference)))
                .orElse(payload);
        return EncryptedPayload.of(beginning).map(EncryptedPayload::key);
    }

    /**
     * A payload encrypted with the present key.
     *
     * @param places the places for one of which it was made, and for which it is made anew
     */
    public Payload anew(Payload payload, List<PayloadPlace> places) {
        PayloadTransform present = Objects.requireNonNull(transform);
        Payload stored = inlined(payload);
        DecryptionException moved = null;
        for (PayloadPlace possible : places) {
            try {
                return at(possible).transformed(present.undo(stored, possible));
            } catch (DecryptionException other) {
                if (other.reason() != DecryptionException.Reason.MOVED) {
                    throw other;
                }
                moved = moved == null ? other : moved;
            }
        }
        throw Objects.requireNonNull(moved, "A value has no place.");
    }

    /** The value of a payload at this place, encrypted with the present key if it was encrypted with another one. */
    public Payload renewed(Payload payload) {
        Optional<String> present = key();
        boolean ofAnotherKey = present.isPresent()
                && keyOf(payload).filter(key -> !key.equals(present.get())).isPresent();
        return ofAnotherKey ? transformed(encoded(payload)) : payload;
    }

    /** The bytes of a value as the application's codec wrote them. */
    public Payload encoded(Payload payload) {
        return transform == null || payload.size() == 0 ? payload : undone(inlined(payload));
    }

    /** What the application's codec wrote, as a payload for this place. */
    public Payload transformed(Payload encoded) {
        if (transform == null) {
            return encoded;
        }
        Payload anew = transform.apply(encoded, place());
        Draft draft = new Draft(inlineBytes);
        draft.write(anew);
        return draft.isLarge()
                ? stored(output -> output.write(anew), draft.reference()).payload()
                : draft.payload();
    }

    /** Whether a payload is in place, or its large value is still there; if so, it stays for another hour. */
    public boolean keeps(Payload payload) {
        return PayloadReference.of(payload).map(store::keep).orElse(true);
    }

    private PayloadReference stored(Consumer<PayloadOutput> encoding, PayloadReference expected) {
        if (store.keep(expected)) {
            return expected;
        }
        while (true) {
            Optional<PayloadReference> written = uploaded(encoding);
            if (written.isPresent()) {
                return written.get();
            }
        }
    }

    private Optional<PayloadReference> uploaded(Consumer<PayloadOutput> encoding) {
        Upload upload = new Upload(store, () -> new UUID(clockwork.random(), clockwork.random()));
        boolean finished = false;
        try {
            encoding.accept(upload);
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
        if (transform == null) {
            codec.encode(value, type, output);
        } else {
            output.write(transform.apply(codec.encode(value, type), place()));
        }
    }

    private PayloadPlace place() {
        if (place == null) {
            throw new IllegalStateException("A value is encoded or decoded for no place.");
        }
        return place;
    }

    // ---- decoding

    @Override
    public @Nullable Object decode(Payload payload, Type type) {
        if (!PayloadReference.is(payload)) {
            return decoded(undone(payload), type);
        }
        return opened(
                payload,
                encoded -> transform == null ? codec.decode(encoded, type) : decoded(undone(all(encoded)), type));
    }

    /** The message of a codec may quote the value, and becomes the reason of a paused run, which is not encrypted. */
    private @Nullable Object decoded(Payload encoded, Type type) {
        try {
            return codec.decode(encoded, type);
        } catch (PayloadException unreadable) {
            throw hidesTexts()
                    ? new PayloadException(
                            "%s bytes cannot be read back as %s (the reason is hidden)."
                                    .formatted(encoded.size(), type.getTypeName()),
                            unreadable)
                    : unreadable;
        }
    }

    @Override
    public @Nullable Object verify(@Nullable Object value, Payload payload, Type type) {
        if (!PayloadReference.is(payload)) {
            return codec.verify(value, undone(payload), type);
        }
        return opened(
                payload,
                encoded -> transform == null
                        ? codec.verify(value, encoded, type)
                        : codec.verify(value, undone(all(encoded)), type));
    }

    private Payload undone(Payload stored) {
        if (transform == null) {
            return stored;
        }
        try {
            return transform.undo(stored, place());
        } catch (PayloadException notForIt) {
            return debounced(transform, stored, notForIt);
        }
    }

    /** The input of a run may be that of a debounced start, which did not know the id of the run. */
    private Payload debounced(PayloadTransform undoing, Payload stored, PayloadException notForIt) {
        if (place().kind() != PayloadPlace.Kind.INPUT) {
            throw notForIt;
        }
        try {
            return undoing.undo(stored, PayloadPlace.debounced());
        } catch (PayloadException neither) {
            throw notForIt;
        }
    }

    private static Payload beginning(InputStream encoded) {
        try {
            return new Payload(encoded.readNBytes(EncryptedPayload.MOST_VISIBLE_BYTES));
        } catch (IOException impossible) { // A download throws none.
            throw new UncheckedIOException(impossible);
        }
    }

    private static Payload all(InputStream encoded) {
        try {
            return new Payload(encoded.readAllBytes());
        } catch (IOException impossible) { // A download throws none.
            throw new UncheckedIOException(impossible);
        }
    }

    /**
     * A value in place, wherever it was stored: for values inside others.
     *
     * @throws MissingPayloadException if the payload store does not have it
     */
    public Payload inlined(Payload payload) {
        return PayloadReference.of(payload)
                .map(reference -> all(new Download(store, reference)))
                .orElse(payload);
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
