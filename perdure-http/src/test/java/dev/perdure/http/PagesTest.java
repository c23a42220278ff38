package dev.perdure.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Perdure;
import dev.perdure.http.exchange.ApiRequest;
import dev.perdure.http.exchange.ApiResponse;
import dev.perdure.memory.MemoryStore;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Pages beside the API. */
class PagesTest {
    @AutoClose
    private final Perdure perdure = Perdure.on(new MemoryStore()).client();

    @AutoClose
    private final HttpApi api = HttpApi.on(perdure)
            .pages(request -> new ApiResponse(
                    200,
                    Map.of("Content-Security-Policy", "default-src 'self'"),
                    new ApiResponse.Bytes(("page " + request.target()).getBytes(StandardCharsets.UTF_8))))
            .build();

    private static ApiRequest of(String method, String target) {
        return ApiRequest.of(method, target).with("Host", "localhost:8080");
    }

    private String text(ApiRequest request) {
        return new String(api.handle(request).bytes(), StandardCharsets.UTF_8);
    }

    @Test
    void what_is_outside_of_the_api_is_a_page() {
        assertThat(text(of("GET", "/"))).isEqualTo("page /");
        assertThat(text(of("GET", "/runs/a?b=c"))).isEqualTo("page /runs/a?b=c");
        assertThat(text(of("HEAD", "/api/v1"))).isEqualTo("page /api/v1");
        assertThat(text(of("GET", "/api/v1/me"))).isEqualTo("{\"name\":\"anybody\",\"role\":\"VIEWER\"}");
        assertThat(api.handle(of("POST", "/runs")).status()).isEqualTo(404);
    }

    @Test
    void a_page_has_its_own_policy_and_else_that_of_the_api() {
        assertThat(api.handle(of("GET", "/")).headers())
                .containsEntry("Content-Security-Policy", "default-src 'self'")
                .containsEntry("X-Content-Type-Options", "nosniff");
    }

    @Test
    void a_page_is_refused_under_another_host() {
        assertThat(api.handle(of("GET", "/").with("Host", "evil.example")).status())
                .isEqualTo(421);
    }

    @Test
    void there_is_no_page_after_the_close() {
        api.close();

        assertThat(api.handle(of("GET", "/")).status()).isEqualTo(503);
    }
}
