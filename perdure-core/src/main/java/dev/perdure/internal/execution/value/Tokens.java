package dev.perdure.internal.execution.value;

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
 * by the token's hash. The prefix has the number of this scheme; another scheme, which may put more into the token,
 * gets another number.
 */
public final class Tokens {
    private static final String ALGORITHM = "HmacSHA256";
    private static final String PREFIX = "awk1_";
    private static final int BYTES = 24;

    /** Tokens of an earlier scheme have no number. They are random, and the journals of their runs contain them. */
    private static final Pattern FORM = Pattern.compile("awk1?_[A-Za-z0-9_-]{32}");

    private static final Base64.Encoder TEXT = Base64.getUrlEncoder().withoutPadding();

    private final SecretKeySpec secret;

    /** Tokens of the runs of one store. */
    public Tokens(byte[] secret) {
        this.secret = new SecretKeySpec(secret, ALGORITHM);
    }

    /**
     * The token of an awakeable.
     *
     * @param life identifies the run and this life of it
     * @param position the position of the call
     */
    String of(byte[] life, int position) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(secret);
            mac.update(PREFIX.getBytes(StandardCharsets.US_ASCII));
            mac.update(ByteBuffer.allocate(Integer.BYTES).putInt(0, position));
            mac.update(life);
            return PREFIX + TEXT.encodeToString(Arrays.copyOf(mac.doFinal(), BYTES));
        } catch (NoSuchAlgorithmException | InvalidKeyException everyJdkHasIt) {
            throw new IllegalStateException(everyJdkHasIt);
        }
    }

    /** Whether this has the form of a token. */
    public static boolean isOne(@Nullable String text) {
        return text != null && FORM.matcher(text).matches();
    }

    /** The hash by which the store finds a token. */
    public static String hash(String token) {
        try {
            return TEXT.encodeToString(
                    MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException everyJdkHasIt) {
            throw new IllegalStateException(everyJdkHasIt);
        }
    }
}
