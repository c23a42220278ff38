package dev.perdure.spi.payload;

import dev.perdure.attribute.AttributeValue;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.spi.change.Payload;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Optional;

/**
 * What an encrypted payload shows without its key. It has a mark, the id of the key, a check sum of the
 * place for which the value was made, a nonce, and the encrypted value with the authentication tag. The mark begins with
 * a one, so neither JSON nor a {@link PayloadReference} is an encrypted payload.
 *
 * @param key the id of the key
 * @param size how many bytes the payload has
 */
public record EncryptedPayload(String key, int size) {
    /** The longest id of a key, in bytes of UTF-8. */
    public static final int MAX_KEY_BYTES = 100;

    /** A one, and then "enc". */
    private static final int MARK = 0x0165_6e63;

    private static final int KEY_AT = Integer.BYTES + 1;

    /** As many bytes of a payload show its key. */
    public static final int MOST_VISIBLE_BYTES = KEY_AT + MAX_KEY_BYTES;

    /** The beginning of a payload that is encrypted with a key. */
    public static byte[] header(String key) {
        byte[] id = requireKey(key);
        return ByteBuffer.allocate(KEY_AT + id.length)
                .putInt(MARK)
                .put((byte) id.length)
                .put(id)
                .array();
    }

    /**
     * Checks the id of a key.
     *
     * @return its bytes
     * @throws InvalidRequestException if it is empty or too long
     */
    public static byte[] requireKey(String key) {
        byte[] id = key.getBytes(StandardCharsets.UTF_8);
        if (id.length == 0 || id.length > MAX_KEY_BYTES) {
            throw new InvalidRequestException(
                    "The id of a key has 1 to %s bytes of UTF-8, and '%s' has %s. Give the key a short name, such as the year."
                            .formatted(MAX_KEY_BYTES, key, id.length));
        }
        return id;
    }

    /** What can be seen of the value of an attribute; empty if it is not encrypted. */
    public static Optional<EncryptedPayload> of(AttributeValue value) {
        if (!(value instanceof AttributeValue.Encrypted encrypted)) {
            return Optional.empty();
        }
        try {
            return of(new Payload(Base64.getDecoder().decode(encrypted.base64())));
        } catch (IllegalArgumentException noBase64) {
            return Optional.empty();
        }
    }

    /** What can be seen of a payload; empty if it is not encrypted. */
    public static Optional<EncryptedPayload> of(Payload payload) {
        byte[] bytes = payload.bytes();
        if (bytes.length < KEY_AT || ByteBuffer.wrap(bytes).getInt() != MARK) {
            return Optional.empty();
        }
        int length = bytes[KEY_AT - 1];
        if (length < 1 || length > MAX_KEY_BYTES || bytes.length < KEY_AT + length) {
            return Optional.empty();
        }
        return Optional.of(
                new EncryptedPayload(new String(bytes, KEY_AT, length, StandardCharsets.UTF_8), bytes.length));
    }
}
