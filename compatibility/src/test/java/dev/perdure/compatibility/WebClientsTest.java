package dev.perdure.compatibility;

import static org.assertj.core.api.Assertions.assertThat;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import dev.perdure.compatibility.WebShop.Caller;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.authority.AuthorityUtils;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.oauth2.jwt.JwtDecoder;
import org.springframework.security.oauth2.jwt.NimbusJwtDecoder;
import org.springframework.security.oauth2.server.resource.authentication.JwtAuthenticationConverter;
import org.springframework.security.oauth2.server.resource.authentication.JwtGrantedAuthoritiesConverter;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.access.intercept.AuthorizationFilter;
import org.springframework.web.filter.OncePerRequestFilter;

/** Clients of the HTTP API in Spring Boot that go, that bring tokens of their own, and whose answers a filter refuses. */
@Timeout(60)
class WebClientsTest {
    private static final String API = "/perdure/api/v1";
    private static final String OLGA = "olgas-token-0123456789";
    private static final byte[] SECRET = "a secret of an issuer of tokens!".getBytes(StandardCharsets.UTF_8);

    /** Asks until the request that was under way has ended and left its place. */
    private static HttpResponse<String> afterTheOther(WebShop shop, String path, Caller caller) throws Exception {
        HttpResponse<String> answer = shop.get(path, caller);
        while (answer.statusCode() == 503) {
            answer = shop.get(path, caller);
        }
        return answer;
    }

    @Test
    void a_client_that_goes_in_the_middle_of_a_stream_leaves_its_place() throws Exception {
        try (WebShop shop = WebShop.withoutSecurity(
                "perdure.http.tokens.olga.role=operator",
                "perdure.http.tokens.olga.token=" + OLGA,
                "perdure.http.requests=1")) {
            Caller olga = new Caller("Bearer " + OLGA);
            URI live = shop.request("/perdure/live", olga).build().uri();
            try (Socket client = new Socket(live.getHost(), live.getPort())) {
                client.setSoLinger(true, 0); // its end is a reset
                client.getOutputStream()
                        .write("GET %s HTTP/1.1\r\nHost: %s\r\nAuthorization: %s\r\n\r\n"
                                .formatted(live.getPath(), live.getAuthority(), olga.authorization())
                                .getBytes(StandardCharsets.US_ASCII));
                assertThat(new String(client.getInputStream().readNBytes(12), StandardCharsets.US_ASCII))
                        .isEqualTo("HTTP/1.1 200");
                assertThat(shop.get(API + "/runs", olga).statusCode()).isEqualTo(503);
            }
            assertThat(afterTheOther(shop, API + "/runs", olga).statusCode()).isEqualTo(200);
        }
    }

    /** Signs everybody in, on the first dispatch only, and saves that nowhere. */
    @Configuration(proxyBeanMethods = false)
    static class Forgetful {
        @Bean
        SecurityFilterChain filters(HttpSecurity http) throws Exception {
            return http.authorizeHttpRequests(requests -> requests.anyRequest().authenticated())
                    .csrf(csrf -> csrf.disable())
                    .addFilterBefore(
                            new OncePerRequestFilter() {
                                @Override
                                protected void doFilterInternal(
                                        HttpServletRequest request, HttpServletResponse response, FilterChain chain)
                                        throws ServletException, IOException {
                                    SecurityContextHolder.getContext()
                                            .setAuthentication(UsernamePasswordAuthenticationToken.authenticated(
                                                    "olga",
                                                    "",
                                                    AuthorityUtils.createAuthorityList("ROLE_PERDURE_OPERATOR")));
                                    chain.doFilter(request, response);
                                }
                            },
                            AuthorizationFilter.class)
                    .build();
        }
    }

    @Test
    void a_request_whose_answer_the_filters_refuse_ends() throws Exception {
        try (WebShop shop = WebShop.with(Forgetful.class, "perdure.http.requests=1")) {
            for (int i = 0; i < 3; i++) { // each leaves its place to the next
                HttpRequest list = shop.request(API + "/runs", null)
                        .timeout(Duration.ofSeconds(20))
                        .build();
                HttpResponse<String> refused = shop.client().send(list, BodyHandlers.ofString());
                while (refused.statusCode() == 503) { // the container ends a request after the client has its answer
                    refused = shop.client().send(list, BodyHandlers.ofString());
                }
                assertThat(refused.statusCode()).isIn(401, 403);
            }
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class ResourceServer {
        // region resource-server
        @Bean
        SecurityFilterChain filters(HttpSecurity http) throws Exception {
            JwtGrantedAuthoritiesConverter roles = new JwtGrantedAuthoritiesConverter();
            roles.setAuthoritiesClaimName("roles");
            roles.setAuthorityPrefix("ROLE_");
            JwtAuthenticationConverter users = new JwtAuthenticationConverter();
            users.setJwtGrantedAuthoritiesConverter(roles);
            return http.authorizeHttpRequests(requests -> requests.dispatcherTypeMatchers(DispatcherType.ASYNC)
                            .permitAll() // the filters let the request through before
                            .anyRequest()
                            .authenticated())
                    .oauth2ResourceServer(server -> server.jwt(jwt -> jwt.jwtAuthenticationConverter(users)))
                    .csrf(csrf -> csrf.ignoringRequestMatchers("/perdure/api/**")) // which has its own rule
                    .build();
        }
        // endregion

        @Bean
        JwtDecoder decoder() {
            return NimbusJwtDecoder.withSecretKey(new SecretKeySpec(SECRET, "HmacSHA256"))
                    .build();
        }
    }

    private static Caller token(String user, Instant expires, byte[] secret, String... roles) throws JOSEException {
        SignedJWT token = new SignedJWT(
                new JWSHeader(JWSAlgorithm.HS256),
                new JWTClaimsSet.Builder()
                        .subject(user)
                        .expirationTime(Date.from(expires))
                        .claim("roles", List.of(roles))
                        .build());
        token.sign(new MACSigner(secret));
        return new Caller("Bearer " + token.serialize());
    }

    @Test
    void the_claims_of_a_token_of_a_resource_server_give_the_role() throws Exception {
        Instant later = Instant.now().plusSeconds(600);
        Caller olga = token("olga", later, SECRET, "PERDURE_OPERATOR");
        Caller vera = token("vera", later, SECRET, "PERDURE_VIEWER");
        Caller carl = token("carl", later, SECRET, "CUSTOMER");
        Caller expired = token("olga", Instant.now().minusSeconds(600), SECRET, "PERDURE_OPERATOR");
        Caller forged =
                token("olga", later, "not the secret of that issuer...".getBytes(StandardCharsets.UTF_8), "PERDURE_ADMIN");
        try (WebShop shop = WebShop.with(ResourceServer.class)) {
            assertThat(shop.get(API + "/me", olga).body()).isEqualTo("{\"name\":\"olga\",\"role\":\"OPERATOR\"}");
            String start = API + "/definitions/failing/start?id=f-1&wait=PT20S";
            assertThat(shop.post(start, olga, "\"no stock\"").body()).contains("FAILED");
            assertThat(shop.post(API + "/runs/f-1/retry", olga, "").statusCode())
                    .isEqualTo(200);
            assertThat(shop.get(API + "/runs/f-1/audit", vera).body()).contains("\"operator\":\"olga\"");
            assertThat(shop.post(API + "/runs/f-1/retry", vera, "").statusCode())
                    .isEqualTo(403);
            assertThat(shop.get(API + "/runs", carl).body()).contains("The user 'carl' has no role here.");
            for (Caller wrong : new Caller[] {expired, forged, null}) {
                assertThat(shop.get(API + "/runs", wrong).statusCode()).isEqualTo(401);
            }
            HttpRequest withoutHeader = shop.request(API + "/runs/f-1/retry", olga)
                    .POST(BodyPublishers.noBody())
                    .build();
            assertThat(shop.client().send(withoutHeader, BodyHandlers.ofString()).body())
                    .contains("ActionHeaderMissing");
        }
    }
}
