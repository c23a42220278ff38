package dev.perdure.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Perdure;
import dev.perdure.http.exchange.ApiRequest;
import dev.perdure.http.exchange.ApiResponse;
import dev.perdure.http.security.Role;
import dev.perdure.http.security.Tokens;
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

    /** Pages of which one part is for callers. */
    private static final class Guarded implements Pages {
        private boolean closed;

        @Override
        public ApiResponse answer(ApiRequest request) {
            return new ApiResponse(200, Map.of(), new ApiResponse.Bytes(new byte[0]));
        }

        @Override
        public boolean needsCaller(ApiRequest request) {
            return request.target().equals("/live");
        }

        @Override
        public void close() {
            closed = true;
        }
    }

    @Test
    void a_page_for_callers_is_behind_the_gate_of_the_api() {
        Guarded pages = new Guarded();
        try (HttpApi guarded = HttpApi.on(perdure)
                .authentication(Tokens.none().with("anna", Role.VIEWER, "annas-token-0123456789"))
                .pages(pages)
                .build()) {
            ApiRequest live = of("GET", "/live");
            assertThat(guarded.handle(of("GET", "/")).status()).isEqualTo(200);
            assertThat(guarded.handle(live).status()).isEqualTo(401);
            ApiRequest right = live.with("Authorization", "Bearer annas-token-0123456789");
            assertThat(guarded.handle(right).status()).isEqualTo(200);
            for (int i = 0; i < 10; i++) {
                ApiRequest wrong = live.with("Authorization", "Bearer guess-0123456789-" + i);
                assertThat(guarded.handle(wrong).status()).isEqualTo(401);
            }
            assertThat(guarded.handle(right).status()).isEqualTo(429);
            assertThat(guarded.handle(of("GET", "/api/v1/me").with("Authorization", "Bearer annas-token-0123456789"))
                            .status())
                    .isEqualTo(429);
        }
        assertThat(pages.closed).isTrue();
    }

    @Test
    void there_is_no_page_after_the_close() {
        api.close();

        assertThat(api.handle(of("GET", "/")).status()).isEqualTo(503);
    }
}
