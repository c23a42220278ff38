package dev.perdure.payload;

import static dev.perdure.StartOptions.id;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Awakeable;
import dev.perdure.Definition;
import dev.perdure.DurableFuture;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunId;
import dev.perdure.Topic;
import dev.perdure.TypeRef;
import dev.perdure.memory.MemoryStore;
import dev.perdure.object.Handler;
import dev.perdure.object.ObjectContext;
import dev.perdure.object.StateKey;
import dev.perdure.object.VirtualObject;
import dev.perdure.spi.change.ObjectKey;
import dev.perdure.spi.change.Payload;
import dev.perdure.spi.change.RunRef;
import dev.perdure.spi.payload.EncryptedPayload;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;

/** A process without keys starts runs, sends, resolves, emits and edits. What a run records of it is encrypted. */
class PlainValuesFromOutsideTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Topic<String> TOLD = Topic.of("told", String.class);
    private static final Topic<String> APPROVAL = Topic.of("approval", String.class);
    private static final Topic<String> STOCK = Topic.of("stock", String.class);
    private static final StateKey<String> NOTE = StateKey.of("note", String.class);

    private final MemoryStore store = new MemoryStore();
    private final BlockingQueue<String> tokens = new LinkedBlockingQueue<>();
    private final Definition<String, String> flow = Definition.of("flow", String.class, String.class, (ctx, in) -> {
        Awakeable<String> call = ctx.awakeable(String.class);
        DurableFuture<String> stock = ctx.event(STOCK);
        ctx.step("hand over", () -> tokens.add(call.token()));
        return String.join(
                ", ",
                in,
                call.await(),
                stock.await(),
                ctx.receive(TOLD).await(),
                ctx.promise(APPROVAL).await());
    });

    /** A virtual object. */
    @VirtualObject("pad")
    static final class Pad {
        @Handler
        public String read(ObjectContext ctx) {
            return ctx.get(NOTE).orElse("nothing");
        }
    }

    @Test
    void values_of_a_process_without_keys_are_read_and_recorded_encrypted() throws Exception {
        Encryption encryption =
                Encryption.with(EncryptionKeys.of("k", Map.of("k", new SecretKeySpec(new byte[16], "AES"))));
        try (Perdure worker = Perdure.on(store)
                        .transform(encryption)
                        .register(flow, new Pad())
                        .start();
                Perdure plain = Perdure.on(store).client()) {
            plain.start(Invocation.of(flow, "in"), id("run"));
            String token = tokens.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            plain.resolve(String.valueOf(token), "answer");
            assertThat(plain.emit(STOCK, "stock")).isOne();
            plain.send(RunId.of("run"), TOLD, "told");
            plain.run(RunId.of("run"), TypeRef.of(String.class))
                    .promise(APPROVAL)
                    .resolve("yes");
            Run<String> run = worker.run(RunId.of("run"), TypeRef.of(String.class));
            assertThat(run.result(PATIENCE)).isEqualTo("in, answer, stock, told, yes");
            RunRef ref = store.runs().find(run.id()).orElseThrow().ref();
            assertThat(store.journals().read(ref, 0, 100_000).entries())
                    .extracting(recorded -> recorded.entry().payload())
                    .filteredOn(payload -> payload.size() > 0)
                    .hasSize(5)
                    .allSatisfy(PlainValuesFromOutsideTest::assertEncrypted);

            plain.object(Pad.class, "a").edit(state -> state.set(NOTE, "by hand"));
            assertEncrypted(
                    store.states().read(new ObjectKey("pad", "a"), "note").orElseThrow());
            assertThat(worker.object(Pad.class, "a").call(Pad::read)).isEqualTo("by hand");
        }
    }

    private static void assertEncrypted(Payload payload) {
        assertThat(EncryptedPayload.of(payload)).isPresent();
    }
}
