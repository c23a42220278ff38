package dev.perdure.internal.payload;

import dev.perdure.spi.payload.PayloadReference;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/** The hash and the size of a payload, of which one piece after the other is known. */
final class ContentHash {
    private @Nullable MessageDigest digest;
    private long size;

    void add(byte[] bytes, int from, int length) {
        if (digest == null) {
            digest = sha256();
        }
        digest.update(bytes, from, length);
        size += length;
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every JDK has SHA-256.", e);
        }
    }

    long size() {
        return size;
    }

    /** The reference to what was added. Nothing can be added afterwards. */
    PayloadReference reference() {
        MessageDigest all = digest == null ? sha256() : digest;
        return new PayloadReference(HexFormat.of().formatHex(all.digest()), size);
    }
}
