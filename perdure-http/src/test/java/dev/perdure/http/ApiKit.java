package dev.perdure.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Perdure;
import dev.perdure.http.exchange.ApiRequest;
import dev.perdure.http.exchange.ApiResponse;
import dev.perdure.http.internal.json.Json;
import dev.perdure.http.security.Authentication;
import dev.perdure.http.security.Role;
import dev.perdure.http.security.Tokens;
import dev.perdure.http.security.Webhook;
import dev.perdure.interceptor.Interceptor;
import dev.perdure.interceptor.StartCall;
import dev.perdure.queue.Limiter;
import dev.perdure.queue.Queue;
import dev.perdure.reaction.Occasion;
import dev.perdure.reaction.Reaction;
import dev.perdure.spi.Store;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import org.awaitility.Awaitility;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * An engine with an API. Every response is compared with the OpenAPI document that the API serves: its status is
 * declared, and so is every property that it has.
 */
final class ApiKit implements AutoCloseable {
    static final String GITHUB_SECRET = "It's a Secret to Everybody";
    static final String PREFIX = HttpApi.DEFAULT_PREFIX;
    static final JsonMapper JSON = new JsonMapper();

    private static final Map<Role, String> TOKENS = Map.of(
            Role.VIEWER, "viewer-token-0123456789",
            Role.OPERATOR, "operator-token-0123456789",
            Role.ADMIN, "admin-token-0123456789");

    final Sample sample = new Sample();
    final Perdure perdure;
    final HttpApi api;
    private final JsonNode document;
    /** Which routes were answered without a problem. */
    final TreeSet<String> answered = new TreeSet<>();

    /** Gives runs headers. */
    private static final class Headers implements Interceptor {
        @Override
        public StartCall start(StartCall call) {
            return call.with("tenant", "acme").with("card", "4111");
        }
    }

    ApiKit(Store store) {
        this(store, builder -> builder);
    }

    ApiKit(Store store, UnaryOperator<HttpApi.Builder> settings) {
        perdure = Perdure.on(store)
                .register(sample.all())
                .version("v1")
                .interceptor(new Headers())
                .queues(Queue.named("default"), Queue.named("slow").concurrency(3))
                .limiters(Limiter.named("partner").concurrency(2))
                .reactions(Reaction.named("alert")
                        .of("never-run")
                        .when(Occasion.FAILED)
                        .late(Duration.ofHours(1))
                        .start(Sample.ALERT))
                .start();
        api = settings.apply(HttpApi.on(perdure)
                        .authentication(tokens())
                        .webhook("github", Webhook.github(GITHUB_SECRET), "signed"))
                .build();
        document = body(api.handle(request("GET", "/openapi.json", Role.VIEWER)));
    }

    static Tokens tokens() {
        return Tokens.none()
                .with("vera", Role.VIEWER, TOKENS.get(Role.VIEWER))
                .with("olga", Role.OPERATOR, TOKENS.get(Role.OPERATOR))
                .with("anna", Role.ADMIN, TOKENS.get(Role.ADMIN));
    }

    /** A response with its body as JSON. */
    record Answer(int status, JsonNode json, ApiResponse response) {
        Answer is(int expected) {
            assertThat(status).as("%s", json).isEqualTo(expected);
            return this;
        }

        String at(String pointer) {
            return json.at(pointer).asString();
        }
    }

    static String token(Role role) {
        return TOKENS.get(role);
    }

    static ApiRequest request(String method, String path, Role role) {
        return ApiRequest.of(method, PREFIX + path)
                .with("Host", "localhost:8080")
                .with("Authorization", "Bearer " + TOKENS.get(role))
                .with(Authentication.ACTION_HEADER, "true");
    }

    Answer get(String path) {
        return send(request("GET", path, Role.VIEWER));
    }

    Answer post(String path) {
        return send(request("POST", path, Role.OPERATOR));
    }

    Answer post(String path, String json) {
        return send(withBody(request("POST", path, Role.OPERATOR), json));
    }

    Answer admin(String method, String path, String json) {
        ApiRequest request = request(method, path, Role.ADMIN);
        return send(json.isEmpty() ? request : withBody(request, json));
    }

    static ApiRequest withBody(ApiRequest request, String json) {
        return request.with("Content-Type", "application/json")
                .with(new ByteArrayInputStream(json.getBytes(StandardCharsets.UTF_8)));
    }

    Answer send(ApiRequest request) {
        ApiResponse response = api.handle(request);
        Answer answer = new Answer(response.status(), body(response), response);
        check(request, answer);
        return answer;
    }

    private static JsonNode body(ApiResponse response) {
        return response.bytes().length == 0 ? Json.object() : Json.read(response.bytes());
    }

    /** Waits until a GET answers with this text at a place. */
    void await(String path, String pointer, String expected) {
        Awaitility.await().untilAsserted(() -> assertThat(get(path).at(pointer)).isEqualTo(expected));
    }

    // ---- the document

    JsonNode document() {
        return document;
    }

    private void check(ApiRequest request, Answer answer) {
        if (answer.status() >= 400) {
            assertThat(answer.response().headers()).containsEntry("Content-Type", "application/problem+json");
            assertThat(answer.json().get("detail").asString()).isNotBlank();
            assertThat(answer.json().get("status").asInt()).isEqualTo(answer.status());
            assertThat(answer.json().get("title").asString()).matches("[A-Za-z]+");
            return;
        }
        String path = request.target().substring(PREFIX.length()).split("\\?", 2)[0];
        String method = request.method().toLowerCase(Locale.ROOT);
        String documented = documented(method, path);
        JsonNode declared = document.get("paths")
                .get(documented)
                .get(method)
                .get("responses")
                .get(String.valueOf(answer.status()));
        assertThat(declared)
                .as("%s %s answers %d", method, documented, answer.status())
                .isNotNull();
        JsonNode schema = declared.at("/content/application~1json/schema");
        if (!schema.isMissingNode()) {
            checkShape(answer.json(), schema, documented);
        }
        answered.add(method + " " + documented);
    }

    private String documented(String method, String path) {
        TreeMap<Integer, String> matches = new TreeMap<>();
        document.get("paths").properties().forEach(each -> {
            if (each.getValue().has(method) && path.matches(each.getKey().replaceAll("\\{\\w+}", "[^/]+"))) {
                matches.put(each.getKey().split("\\{", -1).length, each.getKey());
            }
        });
        assertThat(matches).as("routes of %s %s", method, path).isNotEmpty();
        return matches.firstEntry().getValue();
    }

    private void checkShape(JsonNode json, JsonNode schema, String where) {
        String reference = schema.path("$ref").asString("");
        JsonNode resolved = reference.isEmpty() ? schema : document.at(reference.substring(1));
        assertThat(resolved.isMissingNode()).as("%s in %s", reference, where).isFalse();
        JsonNode properties = resolved.path("properties");
        if (properties.isMissingNode()) {
            if (resolved.path("type").asString("").equals("array")) {
                json.forEach(each -> checkShape(each, resolved.get("items"), where));
            }
            return;
        }
        json.properties().forEach(each -> {
            JsonNode declared = properties.get(each.getKey());
            assertThat(declared).as("property %s of %s", each.getKey(), where).isNotNull();
            String type = declared.path("type").asString("");
            if (!type.isEmpty()) {
                assertThat(typeOf(each.getValue()))
                        .as("%s of %s", each.getKey(), where)
                        .isEqualTo(type);
            }
            checkShape(each.getValue(), declared, where);
        });
    }

    private static String typeOf(JsonNode value) {
        return switch (value.getNodeType()) {
            case STRING -> "string";
            case NUMBER -> "number";
            case BOOLEAN -> "boolean";
            case ARRAY -> "array";
            case OBJECT -> "object";
            default -> "other";
        };
    }

    @Override
    public void close() {
        api.close();
        perdure.close();
    }
}
