package dev.perdure.http;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.perdure.Invocation;
import dev.perdure.RunId;
import dev.perdure.http.exchange.ApiResponse;
import dev.perdure.http.security.Authentication;
import dev.perdure.http.security.Role;
import dev.perdure.memory.MemoryStore;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The API over real sockets. */
@Timeout(60)
final class ApiServerTest {
    private final ApiKit kit = new ApiKit(new MemoryStore(), builder -> builder.maxBodyBytes(10_000));
    private final ApiServer server = ApiServer.of(kit.api)
            .ioTimeout(Duration.ofMillis(700))
            .closeTimeout(Duration.ofSeconds(20))
            .start();
    private final HttpClient client = HttpClient.newHttpClient();

    @AfterEach
    void close() {
        client.close();
        server.close();
        server.close();
        kit.close();
        Awaitility.await()
                .untilAsserted(() -> assertThat(Thread.getAllStackTraces().keySet())
                        .extracting(Thread::getName)
                        .noneMatch(name -> name.startsWith("perdure-http") || name.startsWith("HTTP-Dispatcher")));
    }

    private HttpRequest.Builder request(String path) {
        return request(path, server);
    }

    private static HttpRequest.Builder request(String path, ApiServer to) {
        return HttpRequest.newBuilder(URI.create(to.uri() + path))
                .header("Authorization", "Bearer " + ApiKit.token(Role.OPERATOR))
                .header("Content-Type", "application/json")
                .header(Authentication.ACTION_HEADER, "true");
    }

    private HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return client.send(request(path).build(), HttpResponse.BodyHandlers.ofString());
    }

    private HttpResponse<String> post(String path, String json) throws IOException, InterruptedException {
        return client.send(
                request(path).POST(HttpRequest.BodyPublishers.ofString(json)).build(),
                HttpResponse.BodyHandlers.ofString());
    }

    @Test
    void a_workflow_is_started_and_read_over_http() throws Exception {
        HttpResponse<String> started =
                post("/definitions/order/start?id=o-1&wait=PT20S", "{\"item\": \"book\", \"cents\": 1950}");
        assertThat(started.statusCode()).isEqualTo(200);
        assertThat(started.body()).contains("\"paid\":19.50");
        assertThat(get("/runs/o-1").headers().firstValue("Cache-Control")).contains("no-store");
        assertThat(get("/runs/none").statusCode()).isEqualTo(404);
        HttpResponse<String> paused = post("/queues/slow/resume", "");
        assertThat(paused.statusCode()).isEqualTo(200);
    }

    @Test
    void a_body_that_is_too_large_is_refused() throws Exception {
        HttpResponse<String> refused = post("/definitions/ask/start", "\"" + "x".repeat(20_000) + "\"");
        assertThat(refused.statusCode()).isEqualTo(413);
        assertThat(refused.body()).contains("The body has more than 10000 bytes. Send less, or raise maxBodyBytes.");
    }

    /** What the server sends to a client that speaks so, until the server closes the connection. */
    private String spoken(String text) throws IOException {
        try (Socket socket = new Socket("127.0.0.1", server.port())) {
            socket.setSoTimeout(20_000); // a server that does not cut off fails the test instead of stopping it
            socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
            socket.getOutputStream().flush();
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void a_client_that_sends_slowly_is_cut_off() throws IOException {
        assertThat(spoken("GET /api/v1/runs HTTP/1.1\r\nHost: loc")).isEmpty();
        assertThat(spoken(
                        "POST /api/v1/definitions/ask/start HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAuthorization: Bearer %s\r\n%s: 1\r\nContent-Length: 100\r\n\r\n\"an"
                                .formatted(ApiKit.token(Role.OPERATOR), Authentication.ACTION_HEADER)))
                .doesNotContain("202");
        assertThat(kit.get("/runs").json().at("/runs")).isEmpty();
    }

    /** The slow client has the only place; the other one gets its place when the slow one is cut off. */
    @Test
    void a_client_that_does_not_take_its_answer_is_cut_off() throws Exception {
        byte[] large = new byte[64 * 1024 * 1024];
        try (HttpApi pages = HttpApi.on(kit.perdure)
                        .pages(request -> new ApiResponse(200, Map.of(), new ApiResponse.Bytes(large)))
                        .build();
                ApiServer narrow = ApiServer.of(pages)
                        .requests(1)
                        .ioTimeout(Duration.ofMillis(700))
                        .start();
                Socket slow = new Socket()) {
            slow.setReceiveBufferSize(4096);
            slow.connect(new InetSocketAddress("127.0.0.1", narrow.port()));
            slow.getOutputStream()
                    .write("GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            assertThat(slow.getInputStream().read()).isEqualTo('H'); // it is being answered
            HttpRequest me =
                    HttpRequest.newBuilder(URI.create(narrow.uri() + "/me")).build();
            assertThatThrownBy(() -> client.send(me, HttpResponse.BodyHandlers.ofString()))
                    .isInstanceOf(IOException.class);
            Awaitility.await()
                    .ignoreExceptions()
                    .untilAsserted(() -> assertThat(client.send(me, HttpResponse.BodyHandlers.ofString())
                                    .statusCode())
                            .isEqualTo(200));
        }
    }

    @Test
    void what_is_no_http_is_refused() throws IOException {
        assertThat(spoken("\u0016\u0003\u0001 hello\r\n\r\n")).doesNotContain("200");
        assertThat(spoken("GET /api/v1/../../etc/passwd HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))
                .doesNotContain("200 OK");
        assertThat(
                        spoken(
                                "GET http://evil.example/api/v1/runs HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"))
                .contains(" 421 ");
    }

    @Test
    void a_stream_is_followed_from_the_last_event_to_the_end() throws Exception {
        kit.perdure.start(Invocation.of(Sample.COUNT_UP, 3), id("c-1"));
        HttpResponse<InputStream> response = client.send(
                request("/runs/c-1/published/progress/stream").build(), HttpResponse.BodyHandlers.ofInputStream());
        assertThat(response.headers().firstValue("Content-Type")).contains("text/event-stream");
        String second;
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8))) {
            assertThat(next(lines, "data: ")).contains("\"value\":1");
            second = next(lines, "id: ");
            assertThat(next(lines, "data: ")).contains("\"value\":2");
        }
        CompletableFuture<HttpResponse<String>> rest = client.sendAsync(
                request("/runs/c-1/published/progress/stream")
                        .header("Last-Event-ID", second)
                        .build(),
                HttpResponse.BodyHandlers.ofString());
        kit.perdure.send(RunId.of("c-1"), Sample.APPROVAL, "go");
        List<String> data = rest.get(20, TimeUnit.SECONDS)
                .body()
                .lines()
                .filter(line -> line.startsWith("data: "))
                .toList();
        assertThat(data).hasSize(3);
        assertThat(data.get(0)).contains("\"value\":3");
        assertThat(data.get(1)).contains("\"value\":4");
        assertThat(data.get(2)).isEqualTo("data: {}");
    }

    @Test
    void a_client_that_goes_in_the_middle_of_a_stream_leaves_its_place() throws Exception {
        kit.perdure.start(Invocation.of(Sample.COUNT_UP, 5_000), id("c-1"));
        try (ApiServer narrow = ApiServer.of(kit.api).requests(1).start()) {
            try (Socket gone = new Socket(InetAddress.getLoopbackAddress(), narrow.port())) {
                gone.setSoLinger(true, 0); // its end is a reset
                gone.getOutputStream()
                        .write(("GET " + kit.api.prefix()
                                        + "/runs/c-1/published/progress/stream HTTP/1.1\r\nHost: localhost\r\n"
                                        + "Authorization: Bearer " + ApiKit.token(Role.VIEWER) + "\r\n\r\n")
                                .getBytes(StandardCharsets.US_ASCII));
                BufferedReader lines =
                        new BufferedReader(new InputStreamReader(gone.getInputStream(), StandardCharsets.UTF_8));
                assertThat(next(lines, "data: ")).contains("\"value\":1");
                HttpRequest other = request("/runs/c-1", narrow).build();
                assertThatThrownBy(() -> client.send(other, HttpResponse.BodyHandlers.ofString()))
                        .isInstanceOf(IOException.class);
            }
            HttpRequest next = request("/runs/c-1", narrow).build();
            Awaitility.await()
                    .atMost(Duration.ofSeconds(40))
                    .ignoreExceptionsInstanceOf(IOException.class)
                    .until(() -> client.send(next, HttpResponse.BodyHandlers.ofString())
                                    .statusCode()
                            == 200);
        }
    }

    private static String next(BufferedReader lines, String prefix) throws IOException {
        String line = lines.readLine();
        while (!line.startsWith(prefix)) {
            line = lines.readLine();
        }
        return line.substring(prefix.length());
    }

    @Test
    void closing_answers_those_who_wait() throws Exception {
        kit.perdure.start(Invocation.of(Sample.ASK, "anna"), id("a-1"));
        CompletableFuture<HttpResponse<String>> waiting =
                client.sendAsync(request("/runs/a-1/result?wait=PT30S").build(), HttpResponse.BodyHandlers.ofString());
        kit.perdure.start(Invocation.of(Sample.COUNT_UP, 1), id("c-1"));
        HttpResponse<InputStream> stream = client.send(
                request("/runs/c-1/published/progress/stream").build(), HttpResponse.BodyHandlers.ofInputStream());
        Awaitility.await().until(() -> stream.body().read() >= 0);
        server.close();
        assertThat(waiting.get(20, TimeUnit.SECONDS).statusCode()).isIn(202, 503);
        stream.body().readAllBytes();
    }
}
