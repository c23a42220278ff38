package dev.perdure.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class HttpCommandIT extends CommandsOnPostgres {
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    @Test
    void the_api_of_a_database_is_served_until_the_command_is_stopped() throws Exception {
        assertThat(perdure(onDatabase("migrate"))).isZero();
        int before = out().length();
        Thread command = Thread.ofPlatform().start(() -> perdure(onDatabase("http", "--json", "--by", "anna")));
        try (HttpClient client = HttpClient.newHttpClient()) {
            await().atMost(PATIENCE).until(() -> out().length() > before && out().endsWith("\n"));
            JsonNode printed = new JsonMapper().readTree(out().substring(before));
            HttpRequest.Builder list =
                    HttpRequest.newBuilder(URI.create(printed.get("uri").asString() + "/runs"));
            assertThat(client.send(list.build(), HttpResponse.BodyHandlers.ofString())
                            .statusCode())
                    .isEqualTo(401);
            HttpRequest right = list.header(
                            "Authorization", "Bearer " + printed.get("token").asString())
                    .build();
            assertThat(client.send(right, HttpResponse.BodyHandlers.ofString()).body())
                    .isEqualTo("{\"runs\":[]}");
        } finally {
            command.interrupt();
            command.join(PATIENCE);
        }
        assertThat(command.isAlive()).isFalse();
    }
}
