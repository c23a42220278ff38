package dev.perdure.http;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.dag.Dag;
import dev.perdure.http.internal.json.Json;
import dev.perdure.http.security.Role;
import dev.perdure.memory.MemoryStore;
import dev.perdure.payload.Encryption;
import dev.perdure.payload.EncryptionKeys;
import java.util.Map;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** The API shows an encrypted value as such. Only what its clients need is decrypted, by an engine that has the key. */
final class EncryptedValuesTest {
    private static final Encryption ENCRYPTION =
            Encryption.with(EncryptionKeys.of("2025", Map.of("2025", new SecretKeySpec(new byte[16], "AES"))));

    private final Definition<String, String> pay = Definition.of(
            "pay", String.class, String.class, (ctx, in) -> ctx.step("charge", () -> "secret " + in.length()));

    private static JsonNode get(HttpApi api, String path) {
        var response = api.handle(ApiKit.request("GET", path, Role.VIEWER));
        assertThat(response.status()).isEqualTo(200);
        return Json.read(response.bytes());
    }

    @Test
    void a_journal_has_the_id_of_the_key_and_the_size_and_a_client_gets_its_result() {
        MemoryStore store = new MemoryStore();
        try (Perdure perdure =
                        Perdure.on(store).transform(ENCRYPTION).register(pay).start();
                Perdure withoutKey = Perdure.on(store).register(pay).client()) {
            perdure.start(Invocation.of(pay, "card"), id("run")).result();
            HttpApi api = HttpApi.on(perdure).authentication(ApiKit.tokens()).build();
            JsonNode run = get(api, "/runs/run");
            assertThat(run.at("/input").asString()).isEqualTo("card");
            assertThat(run.at("/result").asString()).isEqualTo("secret 4");
            JsonNode journal = get(api, "/runs/run/journal");
            assertThat(journal.toString()).contains("\"encrypted\":\"2025\"").doesNotContain("secret");

            HttpApi other =
                    HttpApi.on(withoutKey).authentication(ApiKit.tokens()).build();
            JsonNode hidden = get(other, "/runs/run");
            assertThat(hidden.at("/input/encrypted").asString()).isEqualTo("2025");
            assertThat(hidden.at("/result/encrypted").asString()).isEqualTo("2025");
            assertThat(hidden.at("/result/size").asInt()).isGreaterThan(40);
        }
    }

    @Test
    void a_task_shows_the_input_of_its_dag() {
        Dag<String, String> dag =
                Dag.of("shop", String.class, builder -> builder.task("pack", task -> task.input() + " packed"));
        MemoryStore store = new MemoryStore();
        try (Perdure perdure =
                Perdure.on(store).transform(ENCRYPTION).register(dag).start()) {
            perdure.start(dag, "card", id("run")).result();
            HttpApi api = HttpApi.on(perdure).authentication(ApiKit.tokens()).build();
            JsonNode task = get(api, "/runs/run%2Fpack");
            assertThat(task.at("/input").asString()).isEqualTo("card");
            assertThat(task.at("/result").asString()).isEqualTo("card packed");
        }
    }
}
