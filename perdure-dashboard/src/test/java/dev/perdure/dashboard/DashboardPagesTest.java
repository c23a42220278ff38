package dev.perdure.dashboard;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Perdure;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.http.HttpApi;
import dev.perdure.http.exchange.ApiRequest;
import dev.perdure.http.exchange.ApiResponse;
import dev.perdure.http.security.Role;
import dev.perdure.http.security.Tokens;
import dev.perdure.memory.MemoryStore;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How the pages are sent. */
class DashboardPagesTest {
    private static final String TOKEN = "a-token-of-the-tests";

    @AutoClose
    private final DashboardPages pages =
            new DashboardPages("/ops/", "/ops/api/v1", () -> "the same", Duration.ofSeconds(1));

    private ApiResponse get(String target) {
        return pages.answer(ApiRequest.of("GET", target));
    }

    private static String text(ApiResponse response) {
        return new String(response.bytes(), UTF_8);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/ops/", "/ops/runs", "/ops/runs/a/b.js/c", "/ops/runs?state=FAILED", "/ops/queues/x%2Fy"})
    void every_address_of_a_page_is_the_document(String target) {
        ApiResponse response = get(target);

        assertThat(response.status()).isEqualTo(200);
        assertThat(response.headers()).containsEntry("Content-Type", "text/html; charset=utf-8");
        assertThat(text(response))
                .contains("data-base=\"/ops/\"", "data-api=\"/ops/api/v1\"", "data-period=\"1000\"")
                .containsPattern("<script type=\"module\" src=\"/ops/[0-9a-f]{16}/app.js\">")
                .doesNotContain("{base}", "{api}", "{files}", "{modules}");
    }

    @Test
    void it_refuses_to_listen_elsewhere_without_authentication() throws UnknownHostException {
        try (Perdure perdure = Perdure.on(new MemoryStore()).client()) {
            Dashboard.Builder elsewhere =
                    Dashboard.on(perdure).address(InetAddress.getByName("0.0.0.0"), "ops.example");
            assertThatThrownBy(elsewhere::start)
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessage(
                            "Cannot open the dashboard on 0.0.0.0: others than the users of this machine reach it, and it has no authentication. Set it up with authentication(…), or listen on the loopback address.");
        }
    }

    @Test
    void the_policy_lets_run_what_is_here_and_nothing_else() {
        assertThat(get("/ops/").headers().get("Content-Security-Policy"))
                .contains("default-src 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'")
                .containsPattern("script-src 'self' 'sha256-[A-Za-z0-9+/]{43}='")
                .doesNotContain("unsafe", "*", "http");
    }

    @Test
    void a_file_has_its_type_and_is_not_sent_again_to_a_browser_that_has_it() {
        ApiResponse first = get("/ops/app.js");
        ApiResponse again = pages.answer(ApiRequest.of("GET", "/ops/app.js")
                .with("If-None-Match", first.headers().get("ETag")));

        assertThat(first.headers())
                .containsEntry("Content-Type", "text/javascript; charset=utf-8")
                .containsEntry("Cache-Control", "no-cache")
                .containsEntry("X-Content-Type-Options", "nosniff");
        assertThat(first.bytes()).isEqualTo(WebFiles.bytes("app.js"));
        assertThat(again.status()).isEqualTo(304);
        assertThat(again.bytes()).isEmpty();
    }

    @Test
    void the_document_asks_for_all_scripts_at_once_under_a_checksum_under_which_they_never_change() {
        Set<String> asked = Pattern.compile("<link rel=\"modulepreload\" href=\"/ops/([0-9a-f]{16}/[a-z/]+\\.m?js)\">")
                .matcher(text(get("/ops/")))
                .results()
                .map(found -> found.group(1))
                .collect(Collectors.toSet());

        assertThat(asked.stream().map(name -> name.substring(17)))
                .containsExactlyInAnyOrderElementsOf(WebFiles.served().stream()
                        .filter(name -> name.endsWith("js"))
                        .toList());
        assertThat(asked)
                .allSatisfy(name -> assertThat(get("/ops/" + name).headers())
                        .containsEntry("Cache-Control", "public, max-age=31536000, immutable"));
        assertThat(get("/ops/0123456789abcdef/app.js").bytes()) // of another version, or none
                .isEqualTo(get("/ops/").bytes());
    }

    @Test
    void a_file_is_compressed_for_browsers_that_take_it() throws IOException {
        ApiResponse response =
                pages.answer(ApiRequest.of("GET", "/ops/vendor/preact.mjs").with("Accept-Encoding", "gzip, br"));

        assertThat(response.headers())
                .containsEntry("Content-Encoding", "gzip")
                .containsEntry("Vary", "Accept-Encoding");
        try (GZIPInputStream unzipped = new GZIPInputStream(new ByteArrayInputStream(response.bytes()))) {
            assertThat(unzipped.readAllBytes()).isEqualTo(WebFiles.bytes("vendor/preact.mjs"));
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/ops/../Dashboard.class",
                "/ops/vendor/../../Dashboard.class",
                "/ops/..%2fDashboard.class",
                "/ops/%2e%2e/%2e%2e/module-info.class",
                "/ops/vendor//etc/passwd",
                "/ops/web/app.js",
                "/ops/vendor/README.md"
            })
    void no_path_leads_out_of_the_folder(String target) {
        ApiResponse response = get(target);

        assertThat(response.bytes()).isEqualTo(get("/ops/").bytes());
    }

    @Test
    void what_is_not_there_is_said_to_be_missing() {
        assertThat(get("/ops/nothing.js").status()).isEqualTo(404);
        assertThat(text(get("/ops/nothing.js"))).isEqualTo("The dashboard has no file 'nothing.js'.\n");
        assertThat(get("/elsewhere").status()).isEqualTo(404);
        assertThat(text(get("/elsewhere"))).isEqualTo("The dashboard is under the path /ops/.\n");
    }

    @Test
    void the_changes_are_for_callers_of_the_api() {
        try (Perdure perdure = Perdure.on(new MemoryStore()).client();
                HttpApi api = HttpApi.on(perdure)
                        .prefix("/ops/api/v1")
                        .authentication(Tokens.none().with("anna", Role.VIEWER, TOKEN))
                        .pages(DashboardPages.of(perdure, "/ops/", "/ops/api/v1"))
                        .build()) {
            ApiRequest live = ApiRequest.of("GET", "/ops/live").with("Host", "localhost");
            assertThat(api.handle(live).status()).isEqualTo(401);
            assertThat(api.handle(live.with("Authorization", "Bearer " + TOKEN)))
                    .satisfies(response -> assertThat(response.status()).isEqualTo(200))
                    .satisfies(response ->
                            assertThat(response.headers()).containsEntry("Content-Type", "text/event-stream"));
            assertThat(api.handle(ApiRequest.of("GET", "/ops/live/").with("Host", "localhost"))
                            .headers())
                    .as("a page, which shows nothing by itself")
                    .containsEntry("Content-Type", "text/html; charset=utf-8");
        }
    }

    @Test
    void a_path_that_is_none_is_refused() {
        assertThatThrownBy(() -> new DashboardPages("ops\"", "/api/v1", () -> "", Duration.ofSeconds(1)))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage(
                        "The path of the dashboard is 'ops\"'. Give one such as /perdure/, with a slash at both ends.");
    }
}
