package dev.perdure.http;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.http.exchange.ApiRequest;
import dev.perdure.http.security.Role;
import dev.perdure.memory.MemoryStore;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.TreeSet;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** The document says what the API does. {@link ApiKit} compares every response of all tests with it. */
final class OpenApiTest {
    private final ApiKit kit = new ApiKit(new MemoryStore());

    @AfterEach
    void close() {
        kit.close();
    }

    private TreeSet<String> documented() {
        TreeSet<String> routes = new TreeSet<>();
        kit.document()
                .get("paths")
                .properties()
                .forEach(path ->
                        path.getValue().propertyNames().forEach(method -> routes.add(method + " " + path.getKey())));
        return routes;
    }

    @Test
    void every_reference_has_its_schema_and_every_route_its_answers() {
        JsonNode document = kit.document();
        TreeSet<String> references = new TreeSet<>(document.findValuesAsString("$ref"));
        assertThat(references).hasSizeGreaterThan(20);
        for (String reference : references) {
            assertThat(document.at(reference.substring(1)).isMissingNode())
                    .as(reference)
                    .isFalse();
        }
        document.get("paths")
                .properties()
                .forEach(path -> path.getValue().properties().forEach(operation -> {
                    String name = operation.getKey() + " " + path.getKey();
                    assertThat(operation.getValue().get("summary").asString())
                            .as(name)
                            .endsWith(".");
                    assertThat(operation.getValue().get("responses").size())
                            .as(name)
                            .isGreaterThan(1);
                    long inPath = path.getKey()
                            .chars()
                            .filter(character -> character == '{')
                            .count();
                    assertThat(operation.getValue().path("parameters").findValuesAsString("in"))
                            .as(name)
                            .filteredOn("path"::equals)
                            .hasSize((int) inPath);
                }));
    }

    @Test
    void every_route_answers_as_documented() throws Exception {
        read();
        command();
        administrate();
        answer();
        assertThat(kit.answered).isEqualTo(documented());
    }

    private void read() {
        kit.post("/definitions/order/start?id=o-1&wait=PT20S", "{\"item\": \"book\", \"cents\": 1}")
                .is(200);
        for (String path : new String[] {
            "/runs",
            "/runs/count",
            "/runs/histogram?from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z",
            "/runs/o-1",
            "/runs/o-1/history",
            "/runs/o-1/journal",
            "/runs/o-1/tasks",
            "/runs/o-1/children",
            "/runs/o-1/mail",
            "/runs/o-1/audit",
            "/runs/o-1/result",
            "/runs/o-1/log",
            "/runs/o-1/published",
            "/runs/o-1/published/progress",
            "/runs/o-1/published/progress/stream",
            "/statistics/runs",
            "/statistics/failures",
            "/statistics/definitions",
            "/statistics/queues",
            "/statistics/rates",
            "/statistics/waits?from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z",
            "/queues",
            "/queues/slow",
            "/queues/slow/keys",
            "/limiters",
            "/limiters/partner",
            "/schedules",
            "/schedules/none/runs",
            "/reactions",
            "/status",
            "/audit",
            "/retention",
            "/definitions",
            "/workers",
            "/versions",
            "/versions/v1",
            "/objects",
            "/objects/counter",
            "/objects/counter/c-1",
            "/objects/counter/c-1/calls",
            "/me",
            "/openapi.json",
            "/bulk/preview?action=RETRY"
        }) {
            kit.get(path).is(200);
        }
    }

    private void command() throws InterruptedException {
        kit.perdure.start(Invocation.of(Sample.ASK, "x"), id("a-1"));
        kit.post("/runs/a-1/pause").is(200);
        kit.await("/runs/a-1", "/run/state", "PAUSED");
        kit.post("/runs/a-1/resume").is(200);
        kit.post("/runs/a-1/cancel").is(200);
        kit.perdure.start(Invocation.of(Sample.ASK, "x"), id("a-2"));
        kit.post("/runs/a-2/kill").is(200);
        kit.await("/runs/a-2", "/run/state", "CANCELLED");
        kit.post("/runs/a-2/rerun").is(200);
        kit.post("/definitions/fail/start?id=f-1&wait=PT20S", "\"x\"").is(200);
        kit.post("/runs/f-1/repair", "{\"position\": 1, \"value\": \"y\", \"why\": \"z\"}")
                .is(200);
        kit.post("/runs/f-1/retry").is(200);
        kit.post("/runs/f-1/fork", "{\"position\": 1}").is(201);
        kit.post("/definitions/pair/start?id=d-1&wait=PT20S", "{\"item\": \"torn page\", \"cents\": 1}")
                .is(200);
        kit.post("/runs/d-1/tasks/retry-failed").is(200);
        kit.await("/runs/d-1", "/run/state", "FAILED");
        kit.post("/runs/d-1/tasks/first/rerun").is(200);
        String bulk = kit.post("/bulk?definition=none", "{\"action\": \"RETRY\"}")
                .is(202)
                .at("/run/id");
        kit.await("/bulk/" + bulk, "/run/state", "COMPLETED");
        kit.admin("DELETE", "/runs/o-1", "").is(204);
        for (String kind : new String[] {"/queues/slow", "/limiters/partner"}) {
            kit.post(kind + "/pause", "{\"reason\": \"x\"}").is(200);
            kit.post(kind + "/resume").is(200);
            kit.post(kind + "/limits", "{\"settings\": {\"concurrency\": \"7\"}}")
                    .is(200);
            kit.post(kind + "/reset").is(200);
        }
    }

    private void administrate() {
        kit.post("/versions/v1/drain", "{\"definition\": \"listen\"}").is(204);
        kit.post("/versions/v1/resume").is(204);
        kit.admin("PUT", "/schedules/s", "{\"cron\": \"0 2 * * *\", \"definition\": \"nothing\"}")
                .is(202);
        kit.await("/schedules/s", "/name", "s");
        kit.post("/schedules/s/pause", "{\"note\": \"x\"}").is(202);
        for (String action : new String[] {"resume", "skip-next", "reset", "trigger"}) {
            kit.post("/schedules/s/" + action).is(202);
        }
        kit.post("/schedules/s/backfill", "{\"from\": \"2026-01-01T00:00:00Z\", \"to\": \"2026-01-01T01:00:00Z\"}")
                .is(202);
        kit.admin("DELETE", "/schedules/s", "").is(202);
        kit.post("/reactions/alert/pause", "{\"reason\": \"x\"}").is(204);
        kit.post("/reactions/alert/resume").is(204);
        kit.admin("DELETE", "/reactions/alert", "").is(204);
        kit.admin("PUT", "/retention", "{\"all\": \"P7D\"}").is(200);
        kit.admin("POST", "/retention/reset", "").is(200);
    }

    private void answer() throws Exception {
        kit.post("/objects/counter/c-1/add?wait=PT20S", "1").is(200);
        kit.perdure.start(Invocation.of(Sample.PROMISE, "x"), id("p-1"));
        kit.post("/runs/p-1/messages/approval", "1").is(204);
        kit.post("/runs/p-1/promises/approval/resolve", "\"x\"").is(204);
        kit.post("/events/approval", "\"x\"").is(200);
        for (int i = 1; i <= 5; i++) {
            Definition<String, Sample.Reply> waiting = i < 5 ? kit.sample.hook() : kit.sample.signed();
            kit.perdure.start(Invocation.of(waiting, "x"), id("h-" + i));
            String token = kit.sample.tokens.take();
            switch (i) {
                case 1 -> kit.post("/awakeables/" + token + "/resolve", "{}").is(204);
                case 2 ->
                    kit.post("/awakeables/" + token + "/reject", "{\"reason\": \"x\"}")
                            .is(204);
                case 3 ->
                    kit.post("/runs/h-3/awakeables/1/resolve", "{\"value\": {}}")
                            .is(200);
                case 4 ->
                    kit.post("/runs/h-4/awakeables/1/reject", "{\"reason\": \"x\"}")
                            .is(200);
                default -> kit.send(signed("/webhooks/github/" + token, "{}")).is(204);
            }
        }
    }

    static ApiRequest signed(String path, String body) throws Exception {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(ApiKit.GITHUB_SECRET.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
        return ApiKit.request("POST", path, Role.VIEWER)
                .with("X-Hub-Signature-256", "sha256=" + HexFormat.of().formatHex(mac.doFinal(bytes)))
                .with(new ByteArrayInputStream(bytes));
    }
}
