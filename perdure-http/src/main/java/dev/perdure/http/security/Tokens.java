package dev.perdure.http.security;

import dev.perdure.error.InvalidRequestException;
import dev.perdure.http.exchange.ApiRequest;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Callers with a secret token each, which they send as {@code Authorization: Bearer …}. Immutable. It keeps only the
 * hashes of the tokens, and compares them in constant time.
 *
 * <pre>{@code
 * HttpApi.on(perdure).authentication(Tokens.none()
 *         .with("grafana", Role.VIEWER, System.getenv("GRAFANA_TOKEN"))
 *         .with("anna", Role.ADMIN, System.getenv("ANNA_TOKEN")));
 * }</pre>
 */
public final class Tokens implements Authentication {
    /** The fewest characters of a token. */
    public static final int SHORTEST = 16;

    private static final String BEARER = "Bearer ";
    private static final Tokens NONE = new Tokens(List.of());

    private final List<Known> known;

    /** A caller and the hash of its token. */
    @SuppressWarnings("ArrayRecordComponent") // never compared but by MessageDigest.isEqual
    private record Known(Caller caller, byte[] hash) {}

    private Tokens(List<Known> known) {
        this.known = known;
    }

    /** No callers, to add some. */
    public static Tokens none() {
        return NONE;
    }

    /**
     * The same with one more caller.
     *
     * @param name the name of the caller, which the audit records
     * @param role what it may do
     * @param token its secret, of at least 16 characters; make it at random
     */
    public Tokens with(String name, Role role, String token) {
        Caller caller = new Caller(name, role);
        if (token == null || token.length() < SHORTEST || !token.equals(token.strip())) {
            throw new InvalidRequestException(
                    "The token of '%s' is missing, has spaces around it or has fewer than %s characters. Make one at random, such as with 'openssl rand -hex 32'."
                            .formatted(name, SHORTEST));
        }
        byte[] hash = hash(token);
        if (known.stream().anyMatch(other -> MessageDigest.isEqual(other.hash(), hash))) {
            throw new InvalidRequestException(
                    "The token of '%s' is that of another caller. Give each caller its own, so that the audit can tell them apart."
                            .formatted(name));
        }
        List<Known> more = new ArrayList<>(known);
        more.add(new Known(caller, hash));
        return new Tokens(List.copyOf(more));
    }

    @Override
    public Optional<Caller> caller(ApiRequest request) {
        String header = request.header("Authorization").orElse("");
        if (!header.regionMatches(true, 0, BEARER, 0, BEARER.length())) {
            return Optional.empty();
        }
        byte[] hash = hash(header.substring(BEARER.length()).strip());
        Optional<Caller> found = Optional.empty();
        for (Known one : known) { // all of them, so that the time does not tell which one it was
            if (MessageDigest.isEqual(one.hash(), hash)) {
                found = Optional.of(one.caller());
            }
        }
        return found;
    }

    private static byte[] hash(String token) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException missing) {
            throw new IllegalStateException("Every JDK has SHA-256.", missing);
        }
    }

    /** The names of the callers only. */
    @Override
    public String toString() {
        return "Tokens" + known.stream().map(one -> one.caller().name()).toList();
    }
}
