package dev.perdure.http;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.attribute.Attribute;
import dev.perdure.dag.Dag;
import dev.perdure.http.internal.json.Json;
import dev.perdure.http.security.Role;
import dev.perdure.memory.MemoryStore;
import dev.perdure.payload.Encryption;
import dev.perdure.payload.EncryptionKeys;
import java.util.List;
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
    void an_encrypted_attribute_is_shown_with_the_key_and_no_run_is_found_by_it() {
        Attribute<String> email = Attribute.text("email");
        MemoryStore store = new MemoryStore();
        try (Perdure perdure = Perdure.on(store)
                        .transform(ENCRYPTION.attributes(email))
                        .register(pay)
                        .start();
                Perdure withoutKey = Perdure.on(store).start()) {
            perdure.start(Invocation.of(pay, "card"), id("run").attribute(email, "anna@example.org"))
                    .result();
            HttpApi api = HttpApi.on(perdure).authentication(ApiKit.tokens()).build();
            assertThat(get(api, "/runs/run").at("/run/attributes/email").asString())
                    .isEqualTo("anna@example.org");
            assertThat(get(api, "/runs/run").at("/run/unsearchable").toString()).isEqualTo("[\"email\"]");
            assertThat(get(api, "/runs?definition=pay").toString()).contains("anna@example.org");
            for (String path : List.of("/runs", "/runs/count", "/statistics/runs", "/statistics/failures")) {
                var refused = api.handle(ApiKit.request("GET", path + "?where=email%3Danna", Role.VIEWER));
                assertThat(refused.status()).as(path).isEqualTo(400);
                assertThat(Json.read(refused.bytes()).toString())
                        .contains("The attribute 'email' is encrypted, so no run is found by it.");
            }
            HttpApi other =
                    HttpApi.on(withoutKey).authentication(ApiKit.tokens()).build();
            JsonNode hidden = get(other, "/runs/run");
            assertThat(hidden.at("/run/attributes/email/encrypted").asString()).isEqualTo("2025");
            assertThat(get(other, "/runs?definition=pay").toString())
                    .contains("\"encrypted\":\"2025\"")
                    .doesNotContain("anna");
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
