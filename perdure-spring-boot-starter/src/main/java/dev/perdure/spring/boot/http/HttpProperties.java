package dev.perdure.spring.boot.http;

import dev.perdure.http.HttpApi;
import dev.perdure.http.security.Role;
import dev.perdure.http.security.Tokens;
import dev.perdure.spring.boot.internal.NamedProperty;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

/**
 * The properties {@code perdure.http.*}. A property that is not set leaves the default of the builder.
 *
 * @param path the path of the dashboard in the application; the API is at {@code api/v1} below it
 * @param tokens the callers that send a token, by name
 * @param authorities which users of Spring Security have which role
 * @param hosts as {@link HttpApi.Builder#hosts}
 * @param origins as {@link HttpApi.Builder#origins}
 * @param maxBodyBytes as {@link HttpApi.Builder#maxBodyBytes}
 * @param concurrency as {@link HttpApi.Builder#concurrency}; few, so that the application and the engine always have
 *     connections
 * @param waiting as {@link HttpApi.Builder#waiting}
 * @param longestWait as {@link HttpApi.Builder#longestWait}
 * @param requests how many requests are under way at once, from their first byte until the client has taken the answer;
 *     one more is refused
 * @param closeTimeout how long a stop of the application waits for requests that are under way
 */
@ConfigurationProperties(HttpProperties.PREFIX)
public record HttpProperties(
        @DefaultValue("/perdure") String path,
        @DefaultValue Map<String, TokenProperties> tokens,
        @DefaultValue AuthorityProperties authorities,
        @DefaultValue List<String> hosts,
        @DefaultValue List<String> origins,
        @Nullable Integer maxBodyBytes,
        @DefaultValue("3") int concurrency,
        @Nullable Integer waiting,
        @Nullable Duration longestWait,
        @DefaultValue("2000") int requests,
        @DefaultValue("10s") Duration closeTimeout) {
    static final String PREFIX = "perdure.http";

    /** Checks what no builder checks. */
    public HttpProperties {
        if (!path.matches("(/[A-Za-z0-9._~-]+)+")) {
            throw new InvalidConfigurationPropertyValueException(
                    PREFIX + ".path", path, "It is a path such as /perdure, without a slash at its end.");
        }
        if (requests < 1) {
            throw new InvalidConfigurationPropertyValueException(PREFIX + ".requests", requests, "It is at least 1.");
        }
        if (closeTimeout.isNegative()) {
            throw new InvalidConfigurationPropertyValueException(
                    PREFIX + ".close-timeout", closeTimeout, "It cannot be negative.");
        }
    }

    /**
     * A caller with a token.
     *
     * @param role what the caller may do
     * @param token its secret
     */
    public record TokenProperties(
            @DefaultValue("VIEWER") Role role, @Nullable String token) {
        /** Without the secret. */
        @Override
        public String toString() {
            return role.toString();
        }
    }

    /**
     * The authorities of Spring Security that give a role.
     *
     * @param viewer those that may look
     * @param operator those that may also act
     * @param admin those that may also delete
     */
    public record AuthorityProperties(
            @DefaultValue("ROLE_PERDURE_VIEWER") List<String> viewer,
            @DefaultValue("ROLE_PERDURE_OPERATOR") List<String> operator,
            @DefaultValue("ROLE_PERDURE_ADMIN") List<String> admin) {}

    void applyTo(HttpApi.Builder builder) {
        set(builder, "hosts", hosts, (api, names) -> names.isEmpty() ? api : api.hosts(names.toArray(String[]::new)));
        builder.origins(origins.toArray(String[]::new));
        set(builder, "max-body-bytes", maxBodyBytes, HttpApi.Builder::maxBodyBytes);
        set(builder, "concurrency", concurrency, HttpApi.Builder::concurrency);
        set(builder, "waiting", waiting, HttpApi.Builder::waiting);
        set(builder, "longest-wait", longestWait, HttpApi.Builder::longestWait);
    }

    /** The callers with a token; empty if there are none. */
    Optional<Tokens> knownTokens() {
        Tokens known = Tokens.none();
        for (Map.Entry<String, TokenProperties> each : tokens.entrySet()) {
            String name = each.getKey();
            TokenProperties caller = each.getValue();
            known = NamedProperty.<Tokens, @Nullable String>setSecret(
                    known,
                    PREFIX + ".tokens." + name + ".token",
                    caller.token(),
                    (others, token) -> others.with(name, caller.role(), token == null ? "" : token));
        }
        return tokens.isEmpty() ? Optional.empty() : Optional.of(known);
    }

    private static <V> void set(
            HttpApi.Builder builder,
            String property,
            @Nullable V value,
            BiFunction<HttpApi.Builder, V, HttpApi.Builder> setter) {
        NamedProperty.set(builder, PREFIX + "." + property, value, setter);
    }
}
