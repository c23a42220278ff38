package dev.perdure.spi.payload;

import dev.perdure.spi.change.Payload;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Names a large payload by its content, so that equal values have equal references. Where the payload itself would be,
 * journals, mail and states have the {@linkplain #payload() bytes of the reference}. They begin with a zero, so no JSON
 * is a reference; the engine keeps any other value that would look like one in the payload store.
 *
 * @param hash the SHA-256 of the payload, as 64 lower-case hexadecimal digits
 * @param size how many bytes the payload has
 */
public record PayloadReference(String hash, long size) {
    /** A zero, and then "payload". */
    private static final long MARK = 0x0070_6179_6c6f_6164L;

    private static final int HASH_AT = Long.BYTES;
    private static final int SIZE_AT = HASH_AT + 32;
    private static final int BYTES = SIZE_AT + Long.BYTES;
    /** More than any value has. Bytes that say more are no reference. */
    private static final long MOST_BYTES = 1L << 40;

    private static final Pattern HASH = Pattern.compile("[0-9a-f]{64}");

    /** Checks the hash and the size. */
    public PayloadReference {
        if (!HASH.matcher(hash).matches() || size < 0) {
            throw new IllegalArgumentException("Not a reference to a payload: %s, %s bytes".formatted(hash, size));
        }
    }

    /** What is stored in the place of the payload. */
    public Payload payload() {
        return new Payload(ByteBuffer.allocate(BYTES)
                .putLong(MARK)
                .put(HexFormat.of().parseHex(hash))
                .putLong(size)
                .array());
    }

    /** Whether these are the bytes of a reference. */
    public static boolean is(Payload payload) {
        if (payload.size() != BYTES) {
            return false;
        }
        ByteBuffer bytes = ByteBuffer.wrap(payload.bytes());
        long size = bytes.getLong(SIZE_AT);
        return bytes.getLong(0) == MARK && 0 <= size && size <= MOST_BYTES;
    }

    /** The reference that these bytes are; empty if they are a payload. */
    public static Optional<PayloadReference> of(Payload payload) {
        if (!is(payload)) {
            return Optional.empty();
        }
        byte[] bytes = payload.bytes();
        String hash = HexFormat.of().formatHex(bytes, HASH_AT, SIZE_AT);
        return Optional.of(new PayloadReference(hash, ByteBuffer.wrap(bytes).getLong(SIZE_AT)));
    }

    /** How many bytes a value has, whether it is stored in place or in a payload store. */
    public static long sizeOf(Payload payload) {
        return of(payload).map(PayloadReference::size).orElse((long) payload.size());
    }

    /** How many chunks of {@link PayloadStore#CHUNK_BYTES} the payload has. */
    public int chunks() {
        return Math.toIntExact((size + PayloadStore.CHUNK_BYTES - 1) / PayloadStore.CHUNK_BYTES);
    }
}
