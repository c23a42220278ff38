package dev.perdure.internal.execution.value;

import dev.perdure.spi.shard.Partitions;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.InvalidKeyException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Base64;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Tokens of awakeables.
 *
 * <p>How it works: a token is 192 bits of an HMAC, by the store's secret, of the run, its life and the position of the
 * call. So a replay computes the same token although it is stored nowhere, another life of the run has another token,
 * and a reader of journals, tables or views who does not know the secret cannot compute one. The store finds the call
 * by the token's hash. The prefix has the number of the scheme. If the store has several parts, the token begins with the
 * partition of the run, so that one part is asked, and has another number: a run keeps the scheme with which it
 * created the awakeable.
 */
public final class Tokens {
    private static final String ALGORITHM = "HmacSHA256";
    private static final String PREFIX = "awk1_";
    private static final String PREFIX_OF_PARTS = "awk2_";
    private static final int BYTES = 24;

    /** Tokens of an earlier scheme have no number. They are random, and the journals of their runs contain them. */
    private static final Pattern FORM = Pattern.compile("awk1?_[A-Za-z0-9_-]{32}|awk2_[A-Za-z0-9_-]{34}");

    private static final Base64.Encoder TEXT = Base64.getUrlEncoder().withoutPadding();

    private final SecretKeySpec secret;
    private final boolean divided;

    /**
     * Tokens of the runs of one store.
     *
     * @param divided whether the store has several parts
     */
    public Tokens(byte[] secret, boolean divided) {
        this.secret = new SecretKeySpec(secret, ALGORITHM);
        this.divided = divided;
    }

    /** Whether new tokens have the partition of their run. */
    public boolean areDivided() {
        return divided;
    }

    /**
     * The token of an awakeable.
     *
     * @param life identifies the run and this life of it
     * @param position the position of the call
     */
    String of(byte[] life, int position) {
        return PREFIX + TEXT.encodeToString(Arrays.copyOf(mac(PREFIX, life, position), BYTES));
    }

    /** The token of an awakeable of a run in this partition. */
    String of(byte[] life, int position, int partition) {
        byte[] token = ByteBuffer.allocate(1 + BYTES)
                .put((byte) partition)
                .put(mac(PREFIX_OF_PARTS, life, position), 0, BYTES)
                .array();
        return PREFIX_OF_PARTS + TEXT.encodeToString(token);
    }

    private byte[] mac(String prefix, byte[] life, int position) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(secret);
            mac.update(prefix.getBytes(StandardCharsets.US_ASCII));
            mac.update(ByteBuffer.allocate(Integer.BYTES).putInt(0, position));
            mac.update(life);
            return mac.doFinal();
        } catch (NoSuchAlgorithmException | InvalidKeyException everyJdkHasIt) {
            throw new IllegalStateException(everyJdkHasIt);
        }
    }

    /** Whether this has the form of a token. */
    public static boolean isOne(@Nullable String text) {
        return text != null && FORM.matcher(text).matches();
    }

    /** The hash by which the store finds a token. It begins with the partition if the token has one. */
    public static String hash(String token) {
        try {
            String hash = TEXT.encodeToString(
                    MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8)));
            return token.startsWith(PREFIX_OF_PARTS) && isOne(token)
                    ? Partitions.ofToken(partition(token), hash)
                    : hash;
        } catch (NoSuchAlgorithmException everyJdkHasIt) {
            throw new IllegalStateException(everyJdkHasIt);
        }
    }

    private static int partition(String token) {
        byte[] bytes = Base64.getUrlDecoder().decode(token.substring(PREFIX_OF_PARTS.length()));
        return Byte.toUnsignedInt(bytes[0]);
    }
}
