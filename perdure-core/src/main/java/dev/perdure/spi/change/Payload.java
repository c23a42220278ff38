package dev.perdure.spi.change;

import dev.perdure.spi.Codec;
import java.util.Arrays;

/**
 * A value encoded by a {@link Codec}. Equality compares the content; {@code toString} does not print it. The array is
 * not copied: do not change it.
 *
 * @param bytes the encoded value
 */
@SuppressWarnings("ArrayRecordComponent") // compared by content below; copying every payload would cost for nothing
public record Payload(byte[] bytes) {
    /** No bytes: the payload of entries that need none. */
    public static final Payload EMPTY = new Payload(new byte[0]);

    /** How many bytes it has. */
    public int size() {
        return bytes.length;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Payload that && Arrays.equals(bytes, that.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    @Override
    public String toString() {
        return "Payload[" + bytes.length + " bytes]";
    }
}
