package dev.perdure.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Perdure;
import dev.perdure.http.ApiServer;
import dev.perdure.memory.MemoryStore;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.Test;

final class HttpEndpointTest {
    private static final HttpEndpoint.Secrets SECRETS =
            new HttpEndpoint.Secrets("viewer-0123456789", "operator-0123456789", "of-github");

    private static HttpResponse<String> start(ApiServer server, String token) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(server.uri() + "/definitions/order/start?wait=PT20S"))
                .header("Authorization", "Bearer " + token)
                .header("Perdure-Action", "true")
                .header("Idempotency-Key", token)
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString("{\"item\": \"book\", \"cents\": 1950}"))
                .build();
        try (HttpClient client = HttpClient.newHttpClient()) {
            return client.send(request, HttpResponse.BodyHandlers.ofString());
        }
    }

    @Test
    void an_operator_starts_a_workflow_and_a_viewer_does_not() throws Exception {
        try (Perdure perdure = Perdure.on(new MemoryStore())
                        .register(HttpEndpoint.ORDER)
                        .start();
                ApiServer server = HttpEndpoint.serve(perdure, SECRETS, 0)) {
            assertThat(start(server, SECRETS.viewer()).statusCode()).isEqualTo(403);
            HttpResponse<String> started = start(server, SECRETS.operator());
            assertThat(started.statusCode()).isEqualTo(200);
            assertThat(started.body()).contains("\"result\":{\"item\":\"book\",\"cents\":1950}");
        }
    }
}
