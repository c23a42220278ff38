package dev.perdure.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class DashboardCommandIT extends CommandsOnPostgres {
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    @Test
    void the_dashboard_of_a_database_is_served_until_the_command_is_stopped() throws Exception {
        assertThat(perdure(onDatabase("migrate"))).isZero();
        int before = out().length();
        Thread command = Thread.ofPlatform()
                .start(() -> perdure(onDatabase("dashboard", "--port", "0", "--json", "--by", "anna")));
        try (HttpClient client = HttpClient.newHttpClient()) {
            await().atMost(PATIENCE).until(() -> out().length() > before && out().endsWith("\n"));
            URI address = URI.create(new JsonMapper()
                    .readTree(out().substring(before))
                    .get("address")
                    .asString());
            String token = address.getFragment().substring("token=".length());
            assertThat(get(client, address.resolve("/runs"), "")).contains("<title>Perdure</title>");
            assertThat(get(client, address.resolve("/api/v1/me"), ""))
                    .isEqualTo("{\"name\":\"anybody\",\"role\":\"VIEWER\"}");
            assertThat(get(client, address.resolve("/api/v1/me"), token))
                    .isEqualTo("{\"name\":\"anna\",\"role\":\"ADMIN\"}");
            assertThat(get(client, address.resolve("/api/v1/me"), "a wrong one"))
                    .contains("NotAuthenticated");
        } finally {
            command.interrupt();
            command.join(PATIENCE);
        }
        assertThat(command.isAlive()).isFalse();
    }

    @Test
    void a_server_for_development_has_its_dashboard(@TempDir Path folder) throws Exception {
        int before = out().length();
        Thread command = Thread.ofPlatform().start(() -> perdure("dev", "--json", "--folder", folder.toString()));
        try (HttpClient client = HttpClient.newHttpClient()) {
            await().atMost(PATIENCE).until(() -> out().length() > before && out().endsWith("\n"));
            JsonNode printed = new JsonMapper().readTree(out().substring(before));
            assertThat(perdure("runs", "list", "--url", printed.get("url").asString()))
                    .isZero(); // the schema is there
            URI address = URI.create(printed.get("dashboard").asString());
            assertThat(address.getFragment()).startsWith("token=");
            assertThat(get(client, address.resolve("/"), "")).contains("<title>Perdure</title>");
            assertThat(get(client, address.resolve("/api/v1/runs"), "")).isEqualTo("{\"runs\":[]}");
        } finally {
            command.interrupt();
            command.join(PATIENCE);
        }
        assertThat(command.isAlive()).isFalse();
    }

    private static String get(HttpClient client, URI address, String token) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(address);
        if (!token.isEmpty()) {
            request.header("Authorization", "Bearer " + token);
        }
        return client.send(request.build(), HttpResponse.BodyHandlers.ofString())
                .body();
    }
}
