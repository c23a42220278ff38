package dev.perdure.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.StartOptions;
import dev.perdure.Topic;
import dev.perdure.error.InvalidRequestException;
import dev.perdure.http.exchange.ApiRequest;
import dev.perdure.http.security.Role;
import dev.perdure.memory.MemoryStore;
import dev.perdure.object.Handler;
import dev.perdure.object.ObjectContext;
import dev.perdure.object.StateKey;
import dev.perdure.object.VirtualObject;
import java.io.ByteArrayInputStream;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

final class HttpApiTest {
    @Test
    void an_engine_of_somebody_else_is_refused() {
        Perdure other = (Perdure) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {Perdure.class}, (proxy, method, arguments) -> null);
        assertThatThrownBy(() -> HttpApi.on(other).build())
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage(
                        "An adapter was given an engine that Perdure.on(…) has not started. Give it the engine itself, not an object around it.");
    }

    @Test
    void it_is_under_its_prefix_and_nowhere_else() {
        try (Perdure perdure = Perdure.on(new MemoryStore()).client()) {
            HttpApi api = HttpApi.on(perdure).prefix("/admin/perdure").build();
            assertThat(api.handle(ApiRequest.of("GET", "/admin/perdure/runs").with("Host", "localhost"))
                            .status())
                    .isEqualTo(200);
            assertThat(api.handle(ApiRequest.of("GET", "/api/v1/runs").with("Host", "localhost"))
                            .status())
                    .isEqualTo(404);
            assertThat(api.handle(ApiRequest.of("GET", "/admin/perdurex/runs").with("Host", "localhost"))
                            .status())
                    .isEqualTo(404);
            assertThatThrownBy(() -> HttpApi.on(perdure).prefix("admin/"))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessage(
                            "Cannot set up the HTTP API: the prefix is 'admin/'; it is empty, or a path such as /perdure without a slash at its end.");
        }
    }

    @Test
    void requests_wait_for_their_turn_and_long_polls_do_not_take_it() throws InterruptedException {
        try (ApiKit kit = new ApiKit(new MemoryStore(), builder -> builder.concurrency(1))) {
            kit.post("/definitions/ask/start?id=a-1", "\"anna\"").is(202);
            Thread poll = Thread.ofVirtual()
                    .start(() -> kit.api.handle(ApiKit.request("GET", "/runs/a-1/result?wait=PT20S", Role.VIEWER)));
            kit.get("/runs").is(200);
            kit.post("/runs/a-1/messages/approval", "\"yes\"").is(204);
            poll.join();
            assertThat(kit.get("/runs/a-1/result").at("/result")).isEqualTo("anna: yes");
        }
    }

    @Test
    void a_body_that_a_route_does_not_take_is_refused_after_one_byte() {
        try (ApiKit kit = new ApiKit(new MemoryStore())) {
            ByteArrayInputStream body = new ByteArrayInputStream(new byte[1_000]);
            ApiRequest request = ApiKit.request("GET", "/runs", Role.VIEWER).with(body);
            assertThat(kit.send(request).is(400).at("/detail")).isEqualTo("This request takes no body. Leave it out.");
            assertThat(body.available()).isEqualTo(999);
        }
    }

    @Test
    void after_its_close_it_refuses_requests() {
        try (ApiKit kit = new ApiKit(new MemoryStore())) {
            kit.api.close();
            assertThat(kit.get("/runs").is(503).at("/title")).isEqualTo("Closing");
        }
    }

    private static final Topic<String> PART = Topic.of("part", String.class);

    /** Keeps and publishes three values. Two of them are too much for one page. */
    @VirtualObject("album")
    static final class Album {
        @Handler
        public void fill(ObjectContext ctx) {
            for (String name : List.of("a", "b", "c")) {
                String value = name.repeat(600_000);
                ctx.set(StateKey.of(name, String.class), value);
                ctx.publish(PART, value);
            }
        }
    }

    @Test
    void a_page_of_state_or_published_values_has_a_bound_in_bytes() {
        try (MemoryStore store = new MemoryStore();
                Perdure perdure = Perdure.on(store).register(new Album()).start()) {
            perdure.object(Album.class, "x")
                    .send(Album::fill, StartOptions.id("filled"))
                    .result();
            HttpApi api = HttpApi.on(perdure).build();
            List<String> names = new ArrayList<>();
            List<String> published = new ArrayList<>();
            String after = "";
            for (int page = 0; page < 3; page++) {
                JsonNode json = json(api, "/objects/album/x?after=" + after);
                names.add(String.join("", json.get("state").propertyNames()));
                after = json.path("next").asString("none");
            }
            assertThat(after).isEqualTo("none");
            after = "0";
            for (int page = 0; page < 3; page++) {
                JsonNode json = json(api, "/runs/filled/published/part?after=" + after);
                json.get("values")
                        .forEach(value ->
                                published.add(value.get("value").asString().substring(0, 1)));
                after = json.path("next").asString("none");
            }
            assertThat(after).isEqualTo("none");
            assertThat(names).containsExactly("a", "b", "c");
            assertThat(published).containsExactly("a", "b", "c");
        }
    }

    private static JsonNode json(HttpApi api, String path) {
        return ApiKit.JSON.readTree(
                api.handle(ApiRequest.of("GET", ApiKit.PREFIX + path).with("Host", "localhost"))
                        .bytes());
    }

    @Test
    void a_large_value_of_an_unknown_type_is_shown_as_its_hash_and_size() {
        Definition<String, String> flow = Definition.of("flow", String.class, String.class, (ctx, in) -> in);
        try (MemoryStore store = new MemoryStore();
                Perdure starter = Perdure.on(store).register(flow).client();
                Perdure perdure = Perdure.on(store).client()) {
            starter.start(Invocation.of(flow, "x".repeat(2_000_000)), StartOptions.id("large"));
            HttpApi api = HttpApi.on(perdure).build();
            byte[] body = api.handle(ApiRequest.of("GET", "/api/v1/runs/large").with("Host", "localhost"))
                    .bytes();
            assertThat(new String(body, StandardCharsets.UTF_8))
                    .contains("\"size\":2000002")
                    .hasSizeLessThan(10_000);
        }
    }
}
