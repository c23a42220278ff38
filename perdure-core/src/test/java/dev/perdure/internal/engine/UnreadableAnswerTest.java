package dev.perdure.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.RetryPolicy;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.error.PayloadException;
import dev.perdure.error.RunFailedException;
import dev.perdure.internal.failure.Failure;
import dev.perdure.internal.json.JsonCodec;
import dev.perdure.memory.MemoryStore;
import dev.perdure.spi.Codec;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What a child left cannot be read for now, as by a codec that lacks a key: the parent is PAUSED and does not fail. */
@SuppressWarnings("serial") // references to what only this test can reach are never written anywhere
public final class UnreadableAnswerTest {
    private final CompletableFuture<String> paused = new CompletableFuture<>();
    private volatile Class<?> unreadable = void.class;

    private Codec codec() {
        JsonCodec real = new JsonCodec();
        return (Codec) Proxy.newProxyInstance(
                Codec.class.getClassLoader(), new Class<?>[] {Codec.class}, (self, method, arguments) -> {
                    if (method.getName().equals("decode") && unreadable.equals(arguments[1])) {
                        throw new PayloadException("The key 2025 is missing.");
                    }
                    try {
                        return method.invoke(real, arguments);
                    } catch (InvocationTargetException thrown) {
                        throw thrown.getTargetException();
                    }
                });
    }

    private void assertPausedUntilReadable(Definition<String, Integer> child, Class<?> type, String result)
            throws Exception {
        Definition<String, String> parent = Definition.of("parent", String.class, String.class, (ctx, in) -> {
            try {
                return "gave " + ctx.call(Invocation.of(child, "x"));
            } catch (RunFailedException failed) {
                return "child failed";
            }
        });
        unreadable = type;
        try (Perdure engine = Perdure.on(new MemoryStore())
                .codec(codec())
                .retry(RetryPolicy.none())
                .closeTimeout(Duration.ofSeconds(1))
                .listener(change -> {
                    if (change.definition().equals("parent")
                            && (change.state() == RunState.PAUSED
                                    || change.state().isTerminal())) {
                        paused.complete(change.state() + " " + change.reason().orElse(""));
                    }
                })
                .register(child, parent)
                .start()) {
            Run<String> run = engine.start(Invocation.of(parent, "x"));
            assertThat(paused.get(8, TimeUnit.SECONDS))
                    .startsWith("PAUSED What run '" + run.id() + "' recorded at position ")
                    .contains("cannot be read back. The key 2025 is missing. Nothing was applied.");
            unreadable = void.class;
            run.resume();
            assertThat(run.result(Duration.ofSeconds(8))).isEqualTo(result);
        }
    }

    @Test
    void a_parent_is_paused_while_the_result_of_its_child_cannot_be_read() throws Exception {
        assertPausedUntilReadable(
                Definition.of("child", String.class, Integer.class, (ctx, in) -> 7), Integer.class, "gave 7");
    }

    @Test
    void a_parent_is_paused_while_the_failure_of_its_child_cannot_be_read() throws Exception {
        Definition<String, Integer> child = Definition.of("child", String.class, Integer.class, (ctx, in) -> {
            throw new IllegalArgumentException("as told");
        });
        assertPausedUntilReadable(child, Failure.class, "child failed");
    }
}
