package dev.perdure.examples;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.TypeRef;
import dev.perdure.memory.MemoryStore;
import dev.perdure.payload.EncryptionKeys;
import java.util.Map;
import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;

class SecretsTest {
    private static final SecretKey OLD = new SecretKeySpec(new byte[32], "AES");
    private static final SecretKey NEW = new SecretKeySpec(new byte[16], "AES");

    private final MemoryStore store = new MemoryStore();
    private final Definition<String, String> pay = Definition.of(
            "pay", String.class, String.class, (ctx, card) -> ctx.step("charge", () -> "paid by " + card));

    private String result(Perdure perdure, String run) {
        return perdure.run(RunId.of(run), TypeRef.of(String.class)).result();
    }

    @Test
    void values_are_read_after_encryption_was_turned_on_and_after_a_rotation() {
        try (Perdure plain = Perdure.on(store).register(pay).start()) {
            plain.start(Invocation.of(pay, "4711"), id("plain")).result();
        }
        EncryptionKeys keys = EncryptionKeys.of("2025", Map.of("2025", OLD));
        try (Perdure first = Secrets.turnedOn(store, keys).register(pay).start()) {
            assertThat(result(first, "plain")).isEqualTo("paid by 4711");
            first.start(Invocation.of(pay, "4712"), id("first")).result();
        }
        try (Perdure only = Secrets.encrypted(store, OLD).register(pay).start()) {
            assertThat(result(only, "first")).isEqualTo("paid by 4712");
        }
        try (Perdure second = Secrets.rotated(store, OLD, NEW).register(pay).start()) {
            assertThat(result(second, "first")).isEqualTo("paid by 4712");
            assertThat(Secrets.reencrypted(second)).isTrue();
        }
        EncryptionKeys onlyNew = EncryptionKeys.of("2026", Map.of("2026", NEW));
        try (Perdure without = Secrets.turnedOn(store, onlyNew).register(pay).start()) {
            assertThat(result(without, "first")).as("without the old key").isEqualTo("paid by 4712");
        }
        try (Perdure hiding = Secrets.hidden(store, keys).register(pay).start()) {
            Run<String> run =
                    hiding.start(Invocation.of(pay, "4713"), id("hidden").attribute(Secrets.EMAIL, "anna@example.org"));
            assertThat(run.info().description().get(Secrets.EMAIL)).contains("anna@example.org");
        }
        try (Perdure small = Secrets.compressed(store, keys).register(pay).start()) {
            String card = "4".repeat(100_000);
            assertThat(small.start(Invocation.of(pay, card)).result()).isEqualTo("paid by " + card);
        }
    }
}
