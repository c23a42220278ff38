package dev.perdure.internal.execution;

import dev.perdure.spi.Clockwork;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/** Tokens of awakeables: 192 random bits that are stored nowhere but in the run's own journal; found by their hash. */
public final class Tokens {
    private static final String PREFIX = "awk_";
    private static final int LENGTH = PREFIX.length() + 32;
    private static final Base64.Encoder TEXT = Base64.getUrlEncoder().withoutPadding();

    private Tokens() {}

    static String next(Clockwork clockwork) {
        ByteBuffer bytes = ByteBuffer.allocate(3 * Long.BYTES)
                .putLong(clockwork.random())
                .putLong(clockwork.random())
                .putLong(clockwork.random());
        return PREFIX + TEXT.encodeToString(bytes.array());
    }

    /** Whether this may be a token. */
    public static boolean isOne(@Nullable String text) {
        return text != null && text.length() == LENGTH && text.startsWith(PREFIX);
    }

    /** What a token is found by. */
    public static String hash(String token) {
        try {
            return TEXT.encodeToString(
                    MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException everyJdkHasIt) {
            throw new IllegalStateException(everyJdkHasIt);
        }
    }
}
