package dev.perdure.payload;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.spi.payload.EncryptedPayload;
import java.util.Map;
import java.util.Optional;
import javax.crypto.SecretKey;
import org.jspecify.annotations.Nullable;

/**
 * The keys of an {@link Encryption}. Every key has an id, which is stored in clear with each value. Implementations are
 * thread-safe, and fast: the engine asks for every value. A key must stay as long as values are encrypted with it.
 *
 * <p>If keys cannot be had for now, throw an exception: runs wait and ask again, and callers get the exception.
 */
public interface EncryptionKeys {
    /** The id of the key with which new values are encrypted. */
    String current();

    /** The AES key of this id; empty if there is none. */
    Optional<SecretKey> find(String id);

    /**
     * These keys.
     *
     * @param current the id of the key that encrypts; the others only decrypt
     * @throws InvalidRequestException if the current key is not among them, or an id is empty or longer than
     *     {@value EncryptedPayload#MAX_KEY_BYTES} bytes
     */
    static EncryptionKeys of(@Nullable String current, @Nullable Map<String, SecretKey> keys) {
        if (current == null || keys == null) {
            throw new InvalidRequestException("The %s null. Give the keys, and the name of the current one."
                    .formatted(keys == null ? "keys are" : "name of the current key is"));
        }
        Map<String, SecretKey> all = Map.copyOf(keys);
        all.keySet().forEach(EncryptedPayload::requireKey);
        if (!all.containsKey(current)) {
            throw new InvalidRequestException(
                    "The current key '%s' is not among the keys %s. Add it, or choose one of them."
                            .formatted(current, all.keySet().stream().sorted().toList()));
        }
        return new EncryptionKeys() {
            @Override
            public String current() {
                return current;
            }

            @Override
            public Optional<SecretKey> find(String id) {
                return Optional.ofNullable(all.get(id));
            }
        };
    }
}
