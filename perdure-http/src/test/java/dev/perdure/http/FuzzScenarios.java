package dev.perdure.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.RunFilter;
import dev.perdure.http.exchange.ApiRequest;
import dev.perdure.http.exchange.ApiResponse;
import dev.perdure.http.security.Role;
import dev.perdure.spi.Store;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Whatever a client sends, it gets a status below 500 with a message, and nothing is written. */
abstract class FuzzScenarios {
    abstract Store open();

    /** Removes what is below the store. */
    void drop() {}

    private static final int FEW = 400;
    private static final int MANY = 50_000;

    private static final List<String> GOOD_BODIES = List.of(
            "{}",
            "{\"reason\": \"enough\"}",
            "{\"item\": \"book\", \"cents\": 1950}",
            "{\"position\": 1, \"why\": \"wrong\", \"value\": 7}",
            "{\"settings\": {\"concurrency\": \"3\", \"rate\": \"10/PT1S\"}}",
            "{\"action\": \"PAUSE\", \"text\": \"x\"}",
            "{\"cron\": \"0 9 * * MON-FRI\", \"definition\": \"order\", \"zone\": \"UTC\", \"input\": {}}",
            "{\"all\": \"PT720H\", \"rules\": [{\"definition\": \"order\", \"period\": \"PT1H\"}]}",
            "{\"from\": \"2026-01-01T00:00:00Z\", \"to\": \"2026-01-02T00:00:00Z\"}",
            "\"text\"",
            "[1, 2, 3]");

    private static final List<byte[]> BODIES = List.of(
            text("{"),
            text("[1,2"),
            text("nul"),
            text("{\"reason\": 7}"),
            text("{\"reason\": \"a\\u0000b\"}"),
            text("{\"reason\": \"a\", \"reason\": \"b\"}"),
            text("{\"position\": 1e400, \"why\": []}"),
            text("{\"position\": 99999999999999999999}"),
            text("1e99999999999"),
            text("{\"position\": 1e99999999999, \"cents\": 1e-99999999999}"),
            text("{\"@class\": \"java.lang.ProcessBuilder\", \"@type\": \"java.net.URL\"}"),
            text("{\"settings\": {\"concurrency\": \"-1\", \"rate\": \"1/\"}}"),
            text("{\"settings\": {\"rate\": \"0/PT-1S\"}}"),
            text("{\"action\": \"EXPLODE\"}"),
            text("{\"cron\": \"* * *\", \"definition\": \"nothing\", \"zone\": \"Mars\"}"),
            text("{\"all\": \"PT-5S\"}"),
            text("{\"all\": \"PT99999999999999999999S\"}"),
            text("{\"from\": \"yesterday\", \"to\": \"+1000000000-01-01T00:00:00Z\"}"),
            text("\"\\ud800\""),
            text("1" + "0".repeat(20_000)),
            text("{} {}"),
            text("{\"a\":".repeat(5_000)),
            text("[".repeat(100_000)),
            new byte[] {0, 1, 2, (byte) 0xff, (byte) 0xfe},
            text("\ufeff{}"),
            text("\"" + "x".repeat(2_000_000) + "\""));

    private static final List<String> NAMES = List.of(
            "1",
            "%20",
            "%00",
            "%ff",
            "a".repeat(5_000),
            "%F0%9F%98%80",
            "%3Cscript%3E",
            "-1",
            "9999999999999999999",
            "perdure.bulk",
            "'%3B%20DROP%20TABLE%20run%3B--",
            "..%2f..");

    private static final List<String> QUERIES = List.of(
            "",
            "?",
            "?&",
            "?state=NONE",
            "?state=",
            "?limit=0",
            "?limit=x",
            "?limit=99999999999",
            "?after=%21",
            "?after=AAAA",
            "?after=-5",
            "?after=" + cursor("2026-01-01T00:00:00Z\na\u0000b"),
            "?after=" + cursor("+1000000000-12-31T23:59:59.999999999Z\na"),
            "?after=" + cursor("-1000000000-01-01T00:00:00Z\n" + "a".repeat(3_000)),
            "?after=" + cursor("2026-01-01T00:00:00Z\n00000000-0000-0000-0000-000000000001"),
            "?after=9223372036854775807@+1000000000-12-31T23:59:59.999999999Z",
            "?after=-1@-1000000000-01-01T00:00:00Z",
            "?after=9223372036854775808",
            "?wait=PT-1S",
            "?wait=soon",
            "?wait=PT999999999999999999999999H",
            "?where=",
            "?where=x",
            "?where=%3D",
            "?where=a%3D" + "9".repeat(3_000),
            "?created_from=now",
            "?created_from=-1000000000-01-01T00:00:00Z",
            "?created_before=%2B1000000000-12-31T23:59:59Z",
            "?definition=%00",
            "?definition=",
            "?id=",
            "?id=%0a",
            "?unknown=1",
            "?id=a&id=b",
            "?from=2026-01-01T00:00:00Z&to=2026-01-01T00:00:00Z",
            "?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z&bars=3",
            "?delay=PT-1S",
            "?priority=1e3",
            "?action=DELETE&text=x",
            "?%zz",
            "?a=%");

    /** A place between two pages that the API has not given. */
    private static String cursor(String place) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(text(place));
    }

    private static byte[] text(String text) {
        return text.getBytes(UTF_8);
    }

    /** A body that breaks off. */
    private static InputStream broken() {
        return new InputStream() {
            @Override
            public int read() throws IOException {
                throw new IOException("gone");
            }
        };
    }

    @Test
    void malformed_requests_get_a_message_and_write_nothing() {
        try (Store store = open();
                ApiKit kit = new ApiKit(store, builder -> builder.maxBodyBytes(1_000_000))) {
            Random random = new Random(7);
            List<ApiRequest> requests = new ArrayList<>();
            kit.document()
                    .get("paths")
                    .properties()
                    .forEach(path -> path.getValue()
                            .properties()
                            .forEach(each -> requests.addAll(
                                    requests(each.getKey().toUpperCase(Locale.ROOT), path.getKey(), random))));
            assertThat(requests).hasSizeGreaterThan(2_000);
            for (ApiRequest request : requests) {
                ApiResponse response = kit.api.handle(request);
                assertThat(response.status())
                        .as("%s %s", request.method(), shortened(request.target()))
                        .isLessThan(500);
                if (response.status() >= 400) {
                    JsonNode problem = ApiKit.JSON.readTree(response.bytes());
                    assertThat(problem.get("detail").asString())
                            .as("%s", request)
                            .isNotBlank();
                }
            }
            assertThat(kit.perdure.runs(RunFilter.all()).list()).isEmpty();
            assertThat(kit.perdure.schedules().list("", 10)).isEmpty();
            assertThat(kit.perdure.queues().get("slow").changed().settings()).isEmpty();
        }
        drop();
    }

    @Test
    void changed_requests_get_a_message() {
        feed(FEW);
    }

    @Test
    @Tag("thorough")
    void very_many_changed_requests_get_a_message() {
        feed(MANY);
    }

    private void feed(int count) {
        try (Store store = open();
                ApiKit kit = new ApiKit(store, builder -> builder.maxBodyBytes(1_000_000))) {
            Random random = new Random(8);
            List<String[]> routes = new ArrayList<>();
            kit.document()
                    .get("paths")
                    .properties()
                    .forEach(path -> path.getValue().properties().stream()
                            .filter(route -> !path.getKey().endsWith("/stream"))
                            .forEach(route ->
                                    routes.add(new String[] {route.getKey().toUpperCase(Locale.ROOT), path.getKey()})));
            for (int i = 0; i < count; i++) {
                String[] route = routes.get(random.nextInt(routes.size()));
                String target = changed(
                        route[1].replaceAll("\\{\\w+}", oneOf(NAMES, random)) + oneOf(QUERIES, random),
                        random,
                        "%?&=/~+.");
                String body = changed(oneOf(GOOD_BODIES, random), random, "{}[]\",:0e-");
                ApiRequest request = request(route[0], target, random);
                ApiResponse response =
                        kit.api.handle(route[0].equals("GET") ? request : ApiKit.withBody(request, body));
                assertThat(response.status())
                        .as("%s %s %s: %s", route[0], shortened(target), body, new String(response.bytes(), UTF_8))
                        .isLessThan(500);
            }
        }
        drop();
    }

    private static String oneOf(List<String> texts, Random random) {
        return texts.get(random.nextInt(texts.size()));
    }

    private static String changed(String text, Random random, String likely) {
        StringBuilder changed = new StringBuilder(text);
        for (int changes = random.nextInt(4); changes > 0; changes--) {
            int at = random.nextInt(changed.length() + 1);
            switch (random.nextInt(3)) {
                case 0 -> changed.insert(at, likely.charAt(random.nextInt(likely.length())));
                case 1 -> changed.insert(at, (char) (1 + random.nextInt(300)));
                default -> changed.delete(at, Math.min(changed.length(), at + random.nextInt(5)));
            }
        }
        return changed.toString();
    }

    private static String shortened(String target) {
        return target.length() > 100 ? target.substring(0, 100) + "…" : target;
    }

    private static List<ApiRequest> requests(String method, String path, Random random) {
        List<ApiRequest> requests = new ArrayList<>();
        boolean acts = !method.equals("GET");
        for (String name : NAMES) {
            requests.add(request(method, path.replaceAll("\\{\\w+}", name), random));
        }
        for (String query : QUERIES) {
            requests.add(request(method, path.replaceAll("\\{\\w+}", "none") + query, random));
        }
        if (acts) {
            for (byte[] body : BODIES) {
                requests.add(request(method, path.replaceAll("\\{\\w+}", "none"), random)
                        .with("Content-Type", "application/json")
                        .with(new ByteArrayInputStream(body)));
            }
            requests.add(
                    request(method, path.replaceAll("\\{\\w+}", "none"), random).with(broken()));
            requests.add(request(method, path.replaceAll("\\{\\w+}", "none"), random)
                    .with("Content-Type", "text/xml")
                    .with(new ByteArrayInputStream(text("<a/>"))));
        }
        return requests;
    }

    /** From many addresses, so that the limit on wrong tokens does not end the test. */
    private static ApiRequest request(String method, String path, Random random) {
        ApiRequest request = ApiKit.request(method, path, Role.ADMIN).from("address-" + random.nextInt(1_000_000));
        return random.nextBoolean() ? request.with("Idempotency-Key", "") : request.with("Last-Event-ID", "x");
    }
}
