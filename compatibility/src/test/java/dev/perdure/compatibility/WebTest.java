package dev.perdure.compatibility;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.compatibility.WebShop.Caller;
import dev.perdure.http.security.Role;
import dev.perdure.spring.boot.http.HttpApiCustomizer;
import jakarta.servlet.DispatcherType;
import java.io.InputStream;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;

/** The HTTP API and the dashboard in the Tomcat of this Spring Boot. */
@Timeout(60)
class WebTest {
    private static final String OLGA = "olgas-token-0123456789";
    private static final Caller BY_TOKEN = new Caller("Bearer " + OLGA);
    private static final String[] TOKENS = {
        "perdure.http.tokens.olga.role=operator", "perdure.http.tokens.olga.token=" + OLGA
    };

    private static String[] with(String... more) {
        List<String> all = new ArrayList<>(List.of(TOKENS));
        all.addAll(List.of(more));
        return all.toArray(String[]::new);
    }

    @Test
    void the_api_and_the_dashboard_are_under_a_path_of_the_application() throws Exception {
        try (WebShop shop =
                WebShop.withoutSecurity(with("perdure.http.path=/ops", "server.servlet.context-path=/shop"))) {
            HttpResponse<String> moved = shop.get("/shop/ops", null);
            assertThat(moved.statusCode()).isEqualTo(302);
            assertThat(moved.headers().firstValue("Location")).contains("/shop/ops/");
            HttpResponse<String> page = shop.get("/shop/ops/runs", null);
            assertThat(page.headers().firstValue("Content-Security-Policy").orElse(""))
                    .contains("default-src 'none'");
            assertThat(page.body()).contains("data-base=\"/shop/ops/\"", "data-api=\"/shop/ops/api/v1\"");
            assertThat(shop.get("/shop/ops/app.js", null).body()).contains("import");
            String api = "/shop/ops/api/v1";
            assertThat(shop.get(api + "/runs", null).statusCode()).isEqualTo(401);
            HttpResponse<String> started =
                    shop.post(api + "/definitions/failing/start?id=a%2Fb&wait=PT20S", BY_TOKEN, "\"no stock\"");
            assertThat(started.statusCode()).isEqualTo(200);
            assertThat(started.body()).contains("FAILED", "no stock");
            String encoded = Base64.getUrlEncoder().withoutPadding().encodeToString("a/b".getBytes());
            assertThat(shop.get(api + "/runs/~" + encoded, BY_TOKEN).body()).contains("\"id\":\"a/b\"");
            assertThat(shop.get(api + "/none", BY_TOKEN).headers().firstValue("Content-Type"))
                    .hasValueSatisfying(type -> assertThat(type).startsWith("application/problem+json"));
        }
    }

    /** With as many streams and long polls as the server has threads, it still answers, and a stop ends them. */
    @Test
    void streams_and_long_polls_hold_no_threads_of_the_server_and_end_with_the_application() throws Exception {
        CompletableFuture<HttpResponse<String>> poll;
        List<InputStream> streams = new ArrayList<>();
        long began;
        try (WebShop shop = WebShop.withoutSecurity(with("server.tomcat.threads.max=2"))) {
            String order = "{\"id\": \"o-1\", \"lines\": [], \"wanted\": null}";
            assertThat(shop.post("/perdure/api/v1/definitions/order/start?id=o-1", BY_TOKEN, order)
                            .statusCode())
                    .isEqualTo(202);
            HttpRequest result = shop.request("/perdure/api/v1/runs/o-1/result?wait=PT30S", BY_TOKEN)
                    .build();
            poll = shop.client().sendAsync(result, BodyHandlers.ofString());
            for (int i = 0; i < 4; i++) {
                HttpResponse<InputStream> live = shop.stream("/perdure/live", BY_TOKEN);
                assertThat(live.headers().firstValue("Content-Type"))
                        .hasValueSatisfying(type -> assertThat(type).startsWith("text/event-stream"));
                assertThat(live.body().readNBytes(": alive".length())).isEqualTo(bytes(": alive"));
                streams.add(live.body());
            }
            assertThat(shop.get("/perdure/api/v1/runs/o-1", BY_TOKEN).statusCode())
                    .isEqualTo(200);
            began = System.nanoTime();
        }
        for (InputStream stream : streams) {
            stream.readAllBytes(); // it ends
        }
        assertThat(poll.get(1, TimeUnit.SECONDS).statusCode()).isIn(202, 503);
        assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofSeconds(20));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void without_authentication_only_this_machine_looks() throws Exception {
        assertThatThrownBy(() -> WebShop.withoutSecurity())
                .rootCause()
                .hasMessageContaining("perdure.http.enabled")
                .hasMessageContaining(
                        "The HTTP API has no authentication, and others than the users of this machine reach the server. Name tokens in perdure.http.tokens, add Spring Security,");
        try (WebShop shop = WebShop.withoutSecurity("server.address=127.0.0.1", "perdure.dashboard.enabled=false")) {
            assertThat(shop.get("/perdure/api/v1/runs", null).statusCode()).isEqualTo(200);
            assertThat(shop.post("/perdure/api/v1/definitions/failing/start", null, "\"x\"")
                            .statusCode())
                    .isEqualTo(401);
            assertThat(shop.get("/perdure/", null).statusCode()).isEqualTo(404);
        }
    }

    @Test
    void an_address_counts_only_in_a_server_of_the_application() {
        new WebApplicationContextRunner()
                .withUserConfiguration(WebShop.Application.class)
                .withPropertyValues(
                        WebShop.withoutSecurityAndDatabase(), "perdure.http.enabled=true", "server.address=127.0.0.1")
                .run(outside -> assertThat(outside.getStartupFailure())
                        .rootCause()
                        .hasMessageContaining("The HTTP API has no authentication"));
    }

    @Test
    void the_redirect_to_the_pages_stays_on_this_host() throws Exception {
        try (WebShop shop = WebShop.withoutSecurity(with())) {
            HttpResponse<String> moved = shop.get("//evil.example/..;/perdure", null);
            assertThat(moved.headers().firstValue("Location")).contains("/perdure/");
        }
    }

    @Test
    void requests_over_http_2_and_with_the_prefix_of_a_proxy_are_answered() throws Exception {
        try (WebShop shop = WebShop.withoutSecurity(
                        with("server.http2.enabled=true", "server.forward-headers-strategy=framework"));
                HttpClient client = HttpClient.newBuilder()
                        .version(HttpClient.Version.HTTP_2)
                        .build()) {
            HttpRequest list = shop.request("/perdure/api/v1/runs", BY_TOKEN).build();
            client.send(list, BodyHandlers.ofString()); // asks for HTTP/2
            HttpResponse<String> listed = client.send(list, BodyHandlers.ofString());
            assertThat(listed.version()).isEqualTo(HttpClient.Version.HTTP_2);
            assertThat(listed.statusCode()).as(listed.body()).isEqualTo(200);
            HttpRequest behind = shop.request("/perdure/api/v1/runs", BY_TOKEN)
                    .header("X-Forwarded-Prefix", "/outside")
                    .build();
            assertThat(client.send(behind, BodyHandlers.ofString()).statusCode())
                    .isEqualTo(200);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Failing {
        @Bean
        HttpApiCustomizer failing() {
            return api -> api.authentication(request -> {
                throw new AssertionError("for a test");
            });
        }
    }

    @Test
    void a_request_that_fails_ends() throws Exception {
        try (WebShop shop = WebShop.withoutSecurity(Failing.class)) {
            HttpRequest list = shop.request("/perdure/api/v1/runs", null)
                    .timeout(Duration.ofSeconds(20))
                    .build();
            HttpResponse<String> failed = shop.client().send(list, BodyHandlers.ofString());
            assertThat(failed.statusCode()).isEqualTo(500);
            assertThat(failed.body())
                    .contains("\"title\":\"InternalError\",\"status\":500", "The log of the process has the details.");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Waiting {
        final CountDownLatch entered = new CountDownLatch(1);
        final CountDownLatch released = new CountDownLatch(1);

        @Bean
        Waiting latches() {
            return this;
        }

        @Bean
        HttpApiCustomizer waiting() {
            return api -> api.authentication(request -> {
                entered.countDown();
                try {
                    released.await();
                } catch (InterruptedException hurry) {
                    Thread.currentThread().interrupt();
                }
                return Optional.of(new dev.perdure.http.security.Caller("vera", Role.VIEWER));
            });
        }
    }

    @Test
    void more_requests_at_once_than_may_be_are_refused_until_one_ends() throws Exception {
        try (WebShop shop = WebShop.withoutSecurity(Waiting.class, "perdure.http.requests=1")) {
            Waiting latches = shop.bean("latches", Waiting.class);
            String path = "/perdure/api/v1/runs";
            CompletableFuture<HttpResponse<String>> first =
                    shop.client().sendAsync(shop.request(path, null).build(), BodyHandlers.ofString());
            latches.entered.await();
            HttpResponse<String> second = shop.get(path, null);
            assertThat(second.statusCode()).isEqualTo(503);
            assertThat(second.body()).contains("\"title\":\"TooManyRequests\",\"status\":503");
            latches.released.countDown();
            assertThat(first.get().statusCode()).isEqualTo(200);
            HttpResponse<String> third = shop.get(path, null);
            while (third.statusCode() == 503) { // the container ends the first one after the client has its answer
                third = shop.get(path, null);
            }
            assertThat(third.statusCode()).isEqualTo(200);
        }
        assertThatThrownBy(() -> WebShop.withoutSecurity(with("perdure.http.requests=0")))
                .rootCause()
                .hasMessageContaining("perdure.http.requests")
                .hasMessageContaining("It is at least 1.");
    }

    @Test
    void a_value_that_is_refused_is_reported_under_its_name_and_a_secret_is_not_shown() {
        assertThatThrownBy(() -> WebShop.withoutSecurity("perdure.http.tokens.olga.token=short-secret"))
                .rootCause()
                .hasMessageContaining("perdure.http.tokens.olga.token")
                .hasMessageContaining("has fewer than 16 characters")
                .hasMessageNotContaining("short-secret");
        assertThatThrownBy(() -> WebShop.withoutSecurity(with("perdure.http.path=/")))
                .rootCause()
                .hasMessageContaining("perdure.http.path")
                .hasMessageContaining("It is a path such as /perdure, without a slash at its end.");
    }

    @Configuration(proxyBeanMethods = false)
    static class Security {
        // region security
        @Bean
        SecurityFilterChain filters(HttpSecurity http) throws Exception {
            return http.authorizeHttpRequests(requests -> requests.dispatcherTypeMatchers(DispatcherType.ASYNC)
                            .permitAll() // the filters let the request through before
                            .anyRequest()
                            .authenticated())
                    .httpBasic(Customizer.withDefaults())
                    .csrf(csrf -> csrf.ignoringRequestMatchers("/perdure/api/**")) // which has its own rule
                    .build();
        }

        @Bean
        UserDetailsService users() {
            return new InMemoryUserDetailsManager(
                    User.withUsername("olga")
                            .password("{noop}olgas-password")
                            .roles("PERDURE_OPERATOR")
                            .build(),
                    User.withUsername("carl")
                            .password("{noop}carls-password")
                            .roles("CUSTOMER")
                            .build());
        }
        // endregion
    }

    private static Caller user(String name, String password) {
        return new Caller("Basic " + Base64.getEncoder().encodeToString(bytes(name + ":" + password)));
    }

    @Test
    void users_of_spring_security_are_callers_with_the_role_of_their_authorities() throws Exception {
        try (WebShop shop = WebShop.with(Security.class)) {
            Caller olga = user("olga", "olgas-password");
            Caller carl = user("carl", "carls-password");
            String api = "/perdure/api/v1";
            assertThat(shop.get("/perdure/", null).statusCode()).isEqualTo(401);
            assertThat(shop.get("/perdure/", olga).body()).contains("data-base=\"/perdure/\"");
            assertThat(shop.get(api + "/me", olga).body()).isEqualTo("{\"name\":\"olga\",\"role\":\"OPERATOR\"}");
            for (int i = 0; i < 11; i++) {
                HttpResponse<String> refused = shop.get(api + "/me", carl);
                assertThat(refused.statusCode()).isEqualTo(403);
                assertThat(refused.body()).contains("RoleMissing", "The user 'carl' has no role here.");
            }
            HttpResponse<String> started =
                    shop.post(api + "/definitions/failing/start?id=f-1&wait=PT20S", olga, "\"no stock\"");
            assertThat(started.body()).contains("FAILED");
            assertThat(shop.post(api + "/runs/f-1/retry", olga, "").statusCode())
                    .isEqualTo(200);
            assertThat(shop.get(api + "/runs/f-1/audit", olga).body()).contains("\"operator\":\"olga\"");
            assertThat(shop.client()
                            .send(
                                    shop.request(api + "/runs/f-1/retry", olga)
                                            .POST(HttpRequest.BodyPublishers.noBody())
                                            .build(),
                                    BodyHandlers.ofString())
                            .body())
                    .contains("ActionHeaderMissing");
        }
    }
}
