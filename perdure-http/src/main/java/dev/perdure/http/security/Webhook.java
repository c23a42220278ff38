package dev.perdure.http.security;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.http.exchange.ApiRequest;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Supplier;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Checks that the body of a webhook comes from its sender: the sender signs it with a secret that both know. The check
 * is over the body as it was sent, byte by byte. Implementations are thread-safe.
 */
@FunctionalInterface
public interface Webhook {
    /** How old a signature of Stripe may be. */
    Duration TOLERANCE = Duration.ofMinutes(5);

    /** Whether the sender has signed this body. */
    boolean isSigned(ApiRequest request, byte[] body);

    /** A webhook of GitHub: HMAC-SHA-256 of the body in the header {@code X-Hub-Signature-256}. */
    static Webhook github(String secret) {
        byte[] key = key(secret);
        return (request, body) -> {
            String header = request.header("X-Hub-Signature-256").orElse("");
            return header.startsWith("sha256=") && isHex(header.substring("sha256=".length()), hmac(key, body));
        };
    }

    /**
     * A webhook of Stripe: HMAC-SHA-256 of the time, a dot and the body in the header {@code Stripe-Signature}, which may
     * have several signatures. A signature that is older than five minutes is refused, so that it cannot be sent again.
     */
    static Webhook stripe(String secret) {
        return stripe(secret, Instant::now);
    }

    /** The same with another clock. */
    static Webhook stripe(String secret, Supplier<Instant> clock) {
        byte[] key = key(secret);
        return (request, body) -> {
            List<String> parts = Arrays.stream(
                            request.header("Stripe-Signature").orElse("").split(",", -1))
                    .map(String::strip)
                    .toList();
            List<String> times = parts.stream()
                    .filter(part -> part.matches("t=\\d{1,12}"))
                    .map(part -> part.substring(2))
                    .toList();
            if (times.size() != 1) {
                return false;
            }
            String time = times.getFirst();
            Duration age = Duration.between(Instant.ofEpochSecond(Long.parseLong(time)), clock.get());
            byte[] prefix = (time + ".").getBytes(StandardCharsets.UTF_8);
            byte[] signed = Arrays.copyOf(prefix, prefix.length + body.length);
            System.arraycopy(body, 0, signed, prefix.length, body.length);
            byte[] expected = hmac(key, signed);
            return age.abs().compareTo(TOLERANCE) <= 0
                    && parts.stream().anyMatch(part -> part.startsWith("v1=") && isHex(part.substring(3), expected));
        };
    }

    private static byte[] key(String secret) {
        if (secret == null || secret.isBlank()) {
            throw new InvalidRequestException("The secret of the webhook is empty. Give the one that its sender has.");
        }
        return secret.getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] hmac(byte[] key, byte[] body) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
            return mac.doFinal(body);
        } catch (GeneralSecurityException missing) {
            throw new IllegalStateException("Every JDK has HMAC-SHA-256.", missing);
        }
    }

    private static boolean isHex(String text, byte[] expected) {
        String hex = HexFormat.of().formatHex(expected);
        return MessageDigest.isEqual(hex.getBytes(StandardCharsets.US_ASCII), text.getBytes(StandardCharsets.UTF_8));
    }
}
