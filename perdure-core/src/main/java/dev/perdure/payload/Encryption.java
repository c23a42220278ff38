package dev.perdure.payload;

import dev.perdure.attribute.Attribute;
import dev.perdure.error.DecryptionException;
import dev.perdure.error.DecryptionException.Reason;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.internal.time.SecureBytes;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.payload.EncryptedPayload;
import dev.perdure.spi.payload.PayloadPlace;
import dev.perdure.spi.payload.PayloadTransform;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.InvalidKeyException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;

/**
 * Encrypts values with AES-GCM, and binds each to its place. If an intruder changes a stored value, or moves it to
 * another run, position or object, the engine refuses to read it. Thread-safe.
 *
 * <p>How it works. The header of an {@link EncryptedPayload} and the {@linkplain PayloadPlace#text() text of the place} are
 * authenticated with the value. The header also has a check sum of the place, only to tell a value that was moved from
 * one that was changed. Each value has a random nonce of 96 bits, so encrypt at most 2<sup>32</sup> values with one key;
 * then make another key the current one.
 *
 * <p>A value that is not encrypted is refused, except where it {@linkplain PayloadPlace#comesFromOutside() comes from
 * outside}.
 */
public final class Encryption implements PayloadTransform {
    private static final String ALGORITHM = "AES/GCM/NoPadding";
    private static final int PLACE_BYTES = 8;
    private static final int NONCE_BYTES = 12;
    private static final int TAG_BITS = 128;

    private final EncryptionKeys keys;
    private final boolean readsPlain;
    private final Set<String> attributes;
    private final SecureBytes random = new SecureBytes();

    private Encryption(EncryptionKeys keys, boolean readsPlain, Set<String> attributes) {
        this.keys = keys;
        this.readsPlain = readsPlain;
        this.attributes = attributes;
    }

    /** Encrypts with the current key, and decrypts with all. */
    public static Encryption with(EncryptionKeys keys) {
        return new Encryption(keys, false, Set.of());
    }

    /**
     * The same, which also reads values that are not encrypted, wherever they are: for runs that began before encryption
     * was turned on. It cannot tell such a value from one that an intruder has written.
     */
    public Encryption readingPlain() {
        return new Encryption(keys, true, attributes);
    }

    /**
     * The same, which also encrypts these attributes of runs, besides those named before. Operators with the key see their
     * values, and others see that they are encrypted. No run is found by them: a filter that names one is refused.
     */
    public Encryption attributes(Attribute<?>... encrypted) {
        Set<String> names = new TreeSet<>(attributes);
        for (Attribute<?> each : encrypted) {
            names.add(each.name());
        }
        return new Encryption(keys, readsPlain, names);
    }

    @Override
    public Payload apply(Payload encoded, PayloadPlace place) {
        String id = keys.current();
        SecretKey key = keys.find(id)
                .orElseThrow(() -> new InvalidRequestException(
                        "The current key '%s' is not there. Let EncryptionKeys.find(…) return it.".formatted(id)));
        byte[] header = header(id, place);
        byte[] nonce = random.next(NONCE_BYTES);
        try {
            Cipher cipher = cipher(Cipher.ENCRYPT_MODE, key, nonce, header, place);
            byte[] encrypted = cipher.doFinal(encoded.bytes());
            return new Payload(ByteBuffer.allocate(header.length + nonce.length + encrypted.length)
                    .put(header)
                    .put(nonce)
                    .put(encrypted)
                    .array());
        } catch (InvalidKeyException unusable) {
            throw new InvalidRequestException(
                    "The key '%s' cannot be used for AES: %s. Give a key of 16, 24 or 32 bytes for AES."
                            .formatted(id, unusable.getMessage()));
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    @Override
    public Payload undo(Payload stored, PayloadPlace place) {
        Optional<EncryptedPayload> seen = EncryptedPayload.of(stored);
        if (seen.isEmpty()) {
            if (readsPlain || place.comesFromOutside()) {
                return stored;
            }
            throw new DecryptionException(
                    Reason.NOT_ENCRYPTED,
                    "The value for %s is not encrypted. If it was stored before encryption was turned on, use Encryption.readingPlain(); otherwise restore it."
                            .formatted(place));
        }
        return decrypted(stored.bytes(), seen.get().key(), place);
    }

    @Override
    public boolean hidesTexts() {
        return true;
    }

    @Override
    public boolean encryptsAttribute(String name) {
        return attributes.contains(name);
    }

    @Override
    public Optional<String> key() {
        return Optional.of(keys.current());
    }

    private Payload decrypted(byte[] stored, String id, PayloadPlace place) {
        SecretKey key = keys.find(id)
                .orElseThrow(() -> new DecryptionException(
                        Reason.UNKNOWN_KEY,
                        "The value for %s is encrypted with the key '%s', which this process does not have. Let EncryptionKeys.find(…) return it."
                                .formatted(place, id)));
        byte[] header = header(id, place);
        int nonceAt = header.length;
        int valueAt = nonceAt + NONCE_BYTES;
        if (stored.length < valueAt + TAG_BITS / Byte.SIZE) {
            throw changed(id, place);
        }
        if (!Arrays.equals(header, 0, nonceAt, stored, 0, nonceAt)) {
            throw new DecryptionException(
                    Reason.MOVED,
                    "The value found as %s was encrypted for another place. Restore the one that belongs there."
                            .formatted(place));
        }
        try {
            byte[] nonce = Arrays.copyOfRange(stored, nonceAt, valueAt);
            Cipher cipher = cipher(Cipher.DECRYPT_MODE, key, nonce, header, place);
            return new Payload(cipher.doFinal(stored, valueAt, stored.length - valueAt));
        } catch (AEADBadTagException wrong) {
            throw changed(id, place);
        } catch (GeneralSecurityException unusable) {
            throw new DecryptionException(
                    Reason.UNKNOWN_KEY,
                    "The value for %s cannot be decrypted with the key '%s': %s. Give a key of 16, 24 or 32 bytes for AES."
                            .formatted(place, id, unusable.getMessage()));
        }
    }

    private static DecryptionException changed(String id, PayloadPlace place) {
        return new DecryptionException(
                Reason.CHANGED,
                "The value for %s was changed after it was encrypted, or the key '%s' is another one than then. Restore the value or the key."
                        .formatted(place, id));
    }

    private static Cipher cipher(int mode, SecretKey key, byte[] nonce, byte[] header, PayloadPlace place)
            throws GeneralSecurityException {
        Cipher cipher = Cipher.getInstance(ALGORITHM);
        cipher.init(mode, key, new GCMParameterSpec(TAG_BITS, nonce));
        cipher.updateAAD(header);
        cipher.updateAAD(place.text().getBytes(StandardCharsets.UTF_8));
        return cipher;
    }

    private static byte[] header(String key, PayloadPlace place) {
        byte[] beginning = EncryptedPayload.header(key);
        byte[] all = Arrays.copyOf(beginning, beginning.length + PLACE_BYTES);
        System.arraycopy(checkSum(place), 0, all, beginning.length, PLACE_BYTES);
        return all;
    }

    private static byte[] checkSum(PayloadPlace place) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(place.text().getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every JDK has SHA-256.", e);
        }
    }
}
