package dev.perdure.http;

import static dev.perdure.StartOptions.id;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunFilter;
import dev.perdure.RunState;
import dev.perdure.bulk.BulkAction;
import dev.perdure.bulk.BulkReport;
import dev.perdure.dag.Dag;
import dev.perdure.dag.Outputs;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.error.PayloadException;
import dev.perdure.http.ApiKit.Answer;
import dev.perdure.http.exchange.ApiRequest;
import dev.perdure.http.exchange.ApiResponse;
import dev.perdure.http.internal.route.Problems;
import dev.perdure.http.security.Authentication;
import dev.perdure.http.security.Caller;
import dev.perdure.http.security.Redaction;
import dev.perdure.http.security.Role;
import dev.perdure.http.security.Tokens;
import dev.perdure.memory.MemoryStore;
import dev.perdure.object.StateKey;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Who is let in, and who is not. */
final class SecurityTest {
    private final ApiKit kit = new ApiKit(new MemoryStore());

    @AfterEach
    void close() {
        kit.close();
    }

    private static String title(ApiResponse response) {
        return response.bytes().length == 0
                ? ""
                : ApiKit.JSON.readTree(response.bytes()).path("title").asString("");
    }

    /** A route of the document. */
    private record Documented(String method, String path, Optional<Role> role) {}

    private List<Documented> routes() {
        List<Documented> routes = new ArrayList<>();
        kit.document()
                .get("paths")
                .properties()
                .forEach(path -> path.getValue()
                        .properties()
                        .forEach(each -> routes.add(new Documented(
                                each.getKey().toUpperCase(Locale.ROOT), path.getKey(), role(each.getValue())))));
        return routes;
    }

    private static Optional<Role> role(JsonNode operation) {
        String role = operation.get("description").asString().replaceAll("Role: (\\w+).*", "$1");
        return role.equals("none") ? Optional.empty() : Optional.of(Role.valueOf(role));
    }

    private static ApiRequest request(Documented route, Role role) {
        return ApiKit.request(route.method(), route.path().replaceAll("\\{\\w+}", "1"), role);
    }

    @Test
    void every_route_lets_in_its_role_and_those_above_it_and_nobody_else() {
        assertThat(routes()).hasSizeGreaterThan(60);
        for (Documented route : routes()) {
            for (Role role : Role.values()) {
                ApiResponse response = kit.api.handle(request(route, role));
                boolean allowed = route.role().map(role::includes).orElse(true);
                assertThat(response.status() == 403)
                        .as("%s as %s: %s", route, role, title(response))
                        .isEqualTo(!allowed);
                assertThat(response.status()).as("%s as %s", route, role).isNotIn(401, 500);
            }
            ApiRequest unknown = request(route, Role.ADMIN).with("Authorization", "Bearer wrong-token-0123456789");
            ApiResponse stranger = kit.api.handle(unknown.from("stranger-" + route));
            assertThat(stranger.status() == 401)
                    .as("%s as nobody", route)
                    .isEqualTo(route.role().isPresent());
        }
    }

    @Test
    void reading_needs_viewer_acting_operator_and_deleting_admin() {
        for (Documented route : routes()) {
            if (route.method().equals("GET")) {
                assertThat(route.role()).as(route.path()).contains(Role.VIEWER);
            } else if (route.method().equals("DELETE")) {
                assertThat(route.role()).as(route.path()).contains(Role.ADMIN);
            } else if (route.role().isEmpty()) {
                assertThat(route.path()).contains("{token}");
            } else {
                assertThat(route.role().get().includes(Role.OPERATOR))
                        .as(route.path())
                        .isTrue();
            }
        }
    }

    @Test
    void an_action_needs_the_header_and_an_origin_of_its_own() {
        kit.perdure.start(Invocation.of(Sample.ASK, "x"), id("a-1"));
        ApiRequest pause = ApiKit.request("POST", "/runs/a-1/pause", Role.OPERATOR);
        ApiRequest bare = new ApiRequest(
                pause.method(),
                pause.target(),
                without(pause, Authentication.ACTION_HEADER),
                "127.0.0.1",
                pause.body());
        assertThat(title(kit.api.handle(bare))).isEqualTo("ActionHeaderMissing");
        for (String origin : List.of("https://evil.example", "null", "http://localhost:9090", "")) {
            assertThat(title(kit.api.handle(pause.with("Origin", origin))))
                    .as(origin)
                    .isEqualTo("ForeignOrigin");
        }
        assertThat(title(kit.api.handle(pause.with("Sec-Fetch-Site", "cross-site"))))
                .isEqualTo("ForeignOrigin");
        kit.get("/runs/a-1").is(200);
        assertThat(kit.perdure.runs(RunFilter.all().state(RunState.PAUSED)).list())
                .isEmpty();
        assertThat(kit.api
                        .handle(pause.with("Origin", "http://localhost:8080").with("Sec-Fetch-Site", "same-origin"))
                        .status())
                .isEqualTo(200);
    }

    private static Map<String, List<String>> without(ApiRequest request, String header) {
        Map<String, List<String>> fewer = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        fewer.putAll(request.headers());
        fewer.remove(header);
        return fewer;
    }

    @Test
    void no_response_lets_another_site_read_it() {
        ApiResponse response =
                kit.api.handle(ApiKit.request("GET", "/runs", Role.VIEWER).with("Origin", "https://evil.example"));
        assertThat(response.status()).isEqualTo(200);
        assertThat(response.headers().keySet()).noneMatch(name -> name.startsWith("Access-Control"));
        assertThat(response.headers())
                .containsEntry("Cache-Control", "no-store")
                .containsEntry("X-Content-Type-Options", "nosniff")
                .containsEntry("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
        assertThat(kit.api
                        .handle(ApiKit.request("OPTIONS", "/runs", Role.VIEWER))
                        .status())
                .isEqualTo(405);
    }

    @Test
    void another_host_is_refused() {
        ApiRequest list = ApiKit.request("GET", "/runs", Role.VIEWER);
        for (String host :
                List.of("evil.example", "evil.example:8080", "localhost.evil.example", "", "127.0.0.1.nip.io")) {
            assertThat(kit.api.handle(list.with("Host", host)).status())
                    .as(host)
                    .isEqualTo(421);
        }
        for (String host : List.of("localhost", "LOCALHOST:1", "127.0.0.1:8080", "[::1]:8080")) {
            assertThat(kit.api.handle(list.with("Host", host)).status())
                    .as(host)
                    .isEqualTo(200);
        }
        ApiRequest none = new ApiRequest("GET", list.target(), without(list, "Host"), "127.0.0.1", list.body());
        assertThat(kit.api.handle(none).status()).isEqualTo(421);
    }

    @Test
    void paths_that_leave_the_api_are_refused() {
        for (String path : List.of(
                "/../etc/passwd",
                "/runs/../../x",
                "/./runs",
                "/runs/%2e%2e%2f%2e%2e%2fetc",
                "/runs/..%2f..",
                "//runs",
                "/runs/",
                "/runs/a%00b",
                "/runs/%",
                "/runs/%zz",
                "/runs/%ff",
                "/files/etc/passwd")) {
            ApiResponse response = kit.api.handle(ApiKit.request("GET", path, Role.ADMIN));
            assertThat(response.status()).as(path).isIn(400, 404);
        }
        assertThat(kit.api
                        .handle(ApiRequest.of("GET", "/runs").with("Host", "localhost"))
                        .status())
                .isEqualTo(404);
    }

    @Test
    void a_name_in_a_path_may_be_base64() {
        kit.perdure.start(Invocation.of(Sample.ASK, "x"), id("a/b~c"));
        String encoded = Base64.getUrlEncoder().withoutPadding().encodeToString("a/b~c".getBytes(UTF_8));
        assertThat(kit.get("/runs/~" + encoded).is(200).at("/run/id")).isEqualTo("a/b~c");
        assertThat(kit.get("/runs/a%2Fb~c").is(200).at("/run/id")).isEqualTo("a/b~c");
        assertThat(kit.get("/runs/%7Ex").is(404).at("/detail")).contains("'~x'");
        assertThat(kit.get("/runs/~?").is(404).at("/title")).isEqualTo("UnknownRoute");
        assertThat(kit.get("/runs/~a+b").is(400).at("/detail"))
                .isEqualTo(
                        "The path has a part that begins with '~' and is not Base64 with the alphabet for URLs. Write a '~' at the beginning of a name as %7E.");
    }

    @Test
    void only_the_names_in_a_path_are_decoded() {
        Run<String> asking = kit.perdure.start(Invocation.of(Sample.ASK, "x"), id("a-1"));
        for (String path : List.of("/runs/a-1/~a2lsbA", "/runs/a-1/%6bill", "/~cnVucw/a-1/kill", "/%72uns/a-1/kill")) {
            assertThat(kit.post(path).is(404).at("/title")).as(path).isEqualTo("UnknownRoute");
        }
        assertThat(asking.info().state().isTerminal()).isFalse();
        kit.perdure.start(Invocation.of(Sample.ASK, "x"), id("count"));
        assertThat(kit.get("/runs/~Y291bnQ").is(200).at("/run/id")).isEqualTo("count");
    }

    @Test
    void an_address_that_fails_too_often_is_refused_for_a_minute() {
        ApiRequest wrong = ApiKit.request("GET", "/runs", Role.VIEWER)
                .with("Authorization", "Bearer wrong-token-0123456789")
                .from("10.0.0.7");
        for (int i = 0; i < 10; i++) {
            assertThat(kit.api.handle(wrong).status()).isEqualTo(401);
        }
        ApiResponse blocked =
                kit.api.handle(ApiKit.request("GET", "/runs", Role.ADMIN).from("10.0.0.7"));
        assertThat(blocked.status()).isEqualTo(429);
        assertThat(blocked.headers()).containsEntry("Retry-After", "60");
        assertThat(kit.api
                        .handle(ApiKit.request("GET", "/runs", Role.ADMIN).from("10.0.0.8"))
                        .status())
                .isEqualTo(200);
    }

    /** Users who sign in elsewhere: carl has no role here, but may know a token. */
    private static final class Users implements Authentication {
        @Override
        public Optional<Caller> caller(ApiRequest request) {
            return ApiKit.tokens().caller(request);
        }

        @Override
        public Optional<String> user(ApiRequest request) {
            return request.header("Cookie");
        }
    }

    @Test
    void a_user_without_a_role_locks_out_nobody_else_and_cannot_guess_without_a_limit() {
        HttpApi shared = HttpApi.on(kit.perdure).authentication(new Users()).build();
        ApiRequest right = ApiKit.request("GET", "/runs", Role.VIEWER);
        ApiRequest wrong = right.with("Authorization", "Bearer wrong-token-0123456789");
        assertThat(shared.handle(right.with("Cookie", "carl")).status()).isEqualTo(200);
        for (int i = 0; i < 10; i++) {
            ApiResponse refused = shared.handle(wrong.with("Cookie", "carl"));
            assertThat(refused.status()).isEqualTo(403);
            assertThat(ApiKit.JSON.readTree(refused.bytes()).path("detail").asString())
                    .isEqualTo(
                            "The user 'carl' has no role here. Give the user one, with Spring Boot an authority of perdure.http.authorities, or sign in as another user.");
        }
        assertThat(title(shared.handle(right.with("Cookie", "carl"))))
                .as("the next guess is not looked at")
                .isEqualTo("RoleMissing");
        assertThat(shared.handle(right).status()).isEqualTo(200);
        assertThat(shared.handle(right.with("Cookie", "dora")).status()).isEqualTo(200);
        assertThat(shared.handle(wrong).status()).isEqualTo(401);
    }

    @Test
    void cookies_of_other_programs_are_no_failures_to_authenticate() {
        ApiRequest list = ApiRequest.of("GET", "/api/v1/runs")
                .with("Host", "localhost")
                .with("Cookie", "session=of-another-program")
                .from("10.0.0.6");
        for (int i = 0; i < 20; i++) {
            assertThat(kit.api.handle(list).status()).isEqualTo(401);
        }
        assertThat(kit.api
                        .handle(ApiKit.request("GET", "/runs", Role.VIEWER).from("10.0.0.6"))
                        .status())
                .isEqualTo(200);
    }

    @Test
    void guessing_tokens_of_awakeables_is_limited_too() {
        ApiRequest guess =
                ApiKit.request("POST", "/awakeables/guess/resolve", Role.VIEWER).from("10.0.0.9");
        for (int i = 0; i < 10; i++) {
            assertThat(kit.api.handle(guess).status()).isEqualTo(404);
        }
        assertThat(kit.api.handle(guess).status()).isEqualTo(429);
        ApiRequest list = ApiKit.request("GET", "/runs", Role.VIEWER).from("10.0.0.9");
        assertThat(kit.api.handle(list).status())
                .as("callers are not locked out")
                .isEqualTo(200);
    }

    /** A body that tells whether it was read. */
    private static final class WatchedBody extends InputStream {
        private boolean read;

        @Override
        public int read() {
            read = true;
            return -1;
        }
    }

    @Test
    void the_body_of_a_stranger_is_not_read() {
        String guess = "awk1_" + "A".repeat(32);
        for (String path : List.of(
                "/awakeables/guess/resolve",
                "/awakeables/" + guess + "/resolve",
                "/awakeables/" + guess + "/reject",
                "/webhooks/github/" + guess,
                "/webhooks/none/" + guess)) {
            WatchedBody body = new WatchedBody();
            ApiRequest request = ApiRequest.of("POST", "/api/v1" + path)
                    .with("Host", "localhost")
                    .with(body);
            assertThat(kit.api.handle(request).status()).as(path).isEqualTo(404);
            assertThat(body.read).as(path).isFalse();
        }
        WatchedBody body = new WatchedBody();
        ApiRequest start = ApiRequest.of("POST", "/api/v1/definitions/order/start")
                .with("Host", "localhost")
                .with(Authentication.ACTION_HEADER, "true")
                .with(body);
        assertThat(kit.api.handle(start).status()).isEqualTo(401);
        assertThat(HttpApi.on(kit.perdure).build().handle(start).status()).isEqualTo(401);
        assertThat(body.read).isFalse();
    }

    @Test
    void pages_of_other_sites_do_not_answer_awakeables() {
        ApiRequest guess = ApiKit.request("POST", "/awakeables/guess/resolve", Role.VIEWER);
        assertThat(title(kit.api.handle(guess.with("Origin", "https://elsewhere.example"))))
                .isEqualTo("ForeignOrigin");
        assertThat(title(kit.api.handle(guess.with("Sec-Fetch-Site", "cross-site"))))
                .isEqualTo("ForeignOrigin");
    }

    @Test
    void what_belongs_to_the_engine_is_not_changed_by_messages_and_forks() {
        assertThat(title(kit.api.handle(
                        ApiKit.request("POST", "/runs/schedule:nightly/messages/perdure.schedule", Role.ADMIN))))
                .isEqualTo("OfTheEngine");
        Run<BulkReport> bulk = kit.perdure.runs(RunFilter.all()).start(BulkAction.pause("none"));
        ApiRequest fork = ApiKit.request("POST", "/runs/" + bulk.id() + "/fork", Role.ADMIN)
                .with("Content-Type", "application/json");
        assertThat(title(kit.api.handle(fork.with(new ByteArrayInputStream("{\"position\":1}".getBytes(UTF_8))))))
                .isEqualTo("OfTheEngine");
    }

    @Test
    void the_log_shows_no_token() {
        assertThat(ApiRequest.of("POST", "/api/v1/awakeables/secret/resolve?x=1"))
                .hasToString("POST /api/v1/awakeables/…/resolve");
        assertThat(ApiRequest.of("POST", "/api/v1/webhooks/github/secret"))
                .hasToString("POST /api/v1/webhooks/github/…");
    }

    @Test
    void without_authentication_it_only_reads() {
        HttpApi open = HttpApi.on(kit.perdure).build();
        ApiRequest list = ApiRequest.of("GET", "/api/v1/runs").with("Host", "localhost");
        assertThat(open.handle(list).status()).isEqualTo(200);
        ApiRequest start = ApiRequest.of("POST", "/api/v1/definitions/nothing/start")
                .with("Host", "localhost")
                .with(Authentication.ACTION_HEADER, "true");
        assertThat(open.handle(start).status()).isEqualTo(401);
        assertThat(title(open.handle(start))).isEqualTo("NotAuthenticated");
    }

    @Test
    void it_refuses_to_listen_elsewhere_without_authentication() throws UnknownHostException {
        HttpApi open = HttpApi.on(kit.perdure).build();
        ApiServer.Builder server = ApiServer.of(open).address(InetAddress.getByName("0.0.0.0"));
        assertThatThrownBy(server::start)
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage(
                        "Cannot set up the server of the HTTP API: it would listen on 0.0.0.0, where others can reach it, without authentication; set up tokens with authentication(…), or listen on the loopback address.");
    }

    @Test
    void an_authentication_of_its_own_decides() {
        HttpApi own = HttpApi.on(kit.perdure)
                .authentication(request -> request.header("Cookie").map(cookie -> new Caller("cookie", Role.VIEWER)))
                .build();
        ApiRequest list = ApiRequest.of("GET", "/api/v1/runs").with("Host", "localhost");
        assertThat(own.handle(list).status()).isEqualTo(401);
        assertThat(own.handle(list.with("Cookie", "session=7")).status()).isEqualTo(200);
    }

    @Test
    void tokens_are_long_and_different() {
        assertThatThrownBy(() -> Tokens.none().with("anna", Role.ADMIN, "short"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("The token of 'anna' is missing, has spaces around it or has fewer than 16");
        Tokens one = Tokens.none().with("anna", Role.ADMIN, "0123456789abcdef");
        assertThatThrownBy(() -> one.with("berta", Role.VIEWER, "0123456789abcdef"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("The token of 'berta' is that of another caller.");
        assertThat(one).hasToString("Tokens[anna]");
    }

    @Test
    void what_is_hidden_is_shown_nowhere() {
        MemoryStore store = new MemoryStore();
        try (ApiKit hiding =
                new ApiKit(store, builder -> builder.redaction((what, json) -> json.replace("x4111", "****")))) {
            hiding.post("/definitions/fail/start?id=f-1&memo=card%20x4111&wait=PT20S", "\"card x4111\"")
                    .is(200);
            hiding.post("/definitions/order/start?id=o-1&wait=PT20S", "{\"item\": \"x4111\", \"cents\": 1}")
                    .is(200);
            hiding.perdure.start(Invocation.of(Sample.LISTEN, "x"), id("l-1"));
            hiding.post("/runs/l-1/messages/approval", "\"x4111\"").is(204);
            for (String path : List.of(
                    "/runs",
                    "/runs/f-1",
                    "/runs/f-1/history",
                    "/runs/f-1/journal",
                    "/runs/f-1/result",
                    "/runs/o-1",
                    "/runs/o-1/journal",
                    "/runs/l-1/mail")) {
                assertThat(hiding.get(path).is(200).json().toString())
                        .as(path)
                        .contains("****")
                        .doesNotContain("x4111");
            }
        }
    }

    @Test
    void what_is_hidden_of_a_definition_is_hidden_in_the_filters_of_bulk_actions() {
        Redaction redaction = (what, json) -> what.definition().equals("ask") ? "\"(hidden)\"" : json;
        try (ApiKit hiding = new ApiKit(new MemoryStore(), builder -> builder.redaction(redaction))) {
            Answer started = hiding.post("/bulk?definition=ask&where=card=x4111", "{\"action\": \"PAUSE\"}")
                    .is(202);
            assertThat(started.at("/run/memo")).isEqualTo("(hidden)");
            String id = started.at("/run/id");
            hiding.await("/bulk/" + id, "/run/state", "COMPLETED");
            for (String path : List.of("/bulk/" + id, "/runs/" + id, "/runs?definition=perdure.bulk")) {
                assertThat(hiding.get(path).is(200).json().toString())
                        .as(path)
                        .contains("(hidden)")
                        .doesNotContain("x4111");
            }
        }
    }

    @Test
    void what_is_hidden_is_hidden_where_it_is_encoded_inside_of_another_value() {
        Redaction redaction = (what, json) -> what.definition().equals("order") ? "\"(hidden)\"" : json;
        String input = "{\"item\":\"5500\",\"cents\":1}";
        try (ApiKit hiding = new ApiKit(new MemoryStore(), builder -> builder.redaction(redaction))) {
            String body = "{\"definition\":\"order\",\"every\":\"PT1H\",\"attributes\":[\"card=5500\"],\"input\":%s}"
                    .formatted(input);
            hiding.admin("PUT", "/schedules/hourly", body).is(202);
            hiding.await("/schedules/hourly", "/name", "hourly");
            hiding.perdure
                    .object(Sample.Counter.class, "k")
                    .edit(state -> state.set(StateKey.of("card", String.class), "5500"));
            hiding.await("/runs?definition=counter%2F(edit)", "/runs/0/state", "COMPLETED");
            String edit = hiding.get("/runs?definition=counter%2F(edit)").at("/runs/0/id");
            for (String path : List.of(
                    "/runs/schedule:hourly",
                    "/runs/schedule:hourly/journal",
                    "/runs/~" + Base64.getUrlEncoder().withoutPadding().encodeToString(edit.getBytes(UTF_8)))) {
                assertThat(hiding.get(path).is(200).json().toString())
                        .as(path)
                        .doesNotContain("5500")
                        .doesNotContain(base64(input))
                        .doesNotContain(base64("\"5500\""));
            }
        }
    }

    @Test
    void what_is_hidden_is_hidden_in_the_outputs_of_the_last_tasks_of_a_dag() {
        Dag<String, Outputs> cards = Dag.ofLeaves("cards", String.class, dag -> dag.task("read", task -> "card x4111"));
        Redaction redaction = (what, json) -> json.replace("x4111", "****");
        MemoryStore store = new MemoryStore();
        try (Perdure worker = Perdure.on(store).register(cards).start();
                ApiKit hiding = new ApiKit(store, builder -> builder.redaction(redaction))) {
            worker.start(Invocation.of(cards, "x"), id("one")).result();
            assertThat(hiding.get("/runs/one").is(200).at("/result/read")).isEqualTo("card ****");
        }
    }

    private static String base64(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(UTF_8));
    }

    @Test
    void reasons_of_refusals_and_messages_about_values_are_redacted() {
        UnaryOperator<String> hide = text -> text.replace("x4111", "****");
        try (ApiKit hiding =
                new ApiKit(new MemoryStore(), builder -> builder.redaction((what, json) -> hide.apply(json)))) {
            assertThat(hiding.post("/definitions/order/start", "{\"item\": \"x\", \"cents\": \"x4111 x\"}")
                            .is(400)
                            .at("/detail"))
                    .contains("**** x")
                    .doesNotContain("x4111");
            hiding.post("/definitions/parent/start?id=p-x4111&wait=PT20S", "{\"item\": \"x\", \"cents\": 1}")
                    .is(200);
            String bulk = hiding.admin("POST", "/bulk?definition=order", "{\"action\": \"DELETE\"}")
                    .is(202)
                    .at("/run/id");
            hiding.await("/bulk/" + bulk, "/run/state", "COMPLETED");
            assertThat(hiding.get("/bulk/" + bulk).at("/report/refusals/0/reason"))
                    .contains("p-****")
                    .doesNotContain("x4111");
        }
        assertThat(Problems.of(new PayloadException("Cannot read x4111."), hide).getMessage())
                .isEqualTo("Cannot read ****.");
    }
}
