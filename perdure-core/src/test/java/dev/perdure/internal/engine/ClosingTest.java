package dev.perdure.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.perdure.Definition;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.memory.MemoryStore;
import dev.perdure.spi.Dispatch;
import dev.perdure.spi.Store;
import java.lang.reflect.Proxy;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A worker closes while its last claim is on its way. */
@Timeout(20)
final class ClosingTest {
    private static final Definition<String, String> ECHO =
            Definition.of("echo", String.class, String.class, (ctx, in) -> ctx.step("step", () -> in));

    private final MemoryStore rows = new MemoryStore();
    private final CountDownLatch claimed = new CountDownLatch(1);
    private final CountDownLatch go = new CountDownLatch(1);

    @Test
    void what_was_claimed_meanwhile_is_given_back_and_not_recovered() throws Exception {
        try (Perdure client = Perdure.on(rows).register(ECHO).client()) {
            Perdure worker = Perdure.on(slowToAnswer()).register(ECHO).start();
            Run<String> run = client.start(ECHO, "x");
            claimed.await();
            Thread closing = Thread.ofPlatform().start(worker::close);
            await().until(() -> closing.getState() == Thread.State.WAITING);
            go.countDown();
            closing.join();

            assertThat(run.state()).isEqualTo(RunState.READY);
            assertThat(run.info().recoveries()).isZero();
            Perdure another = Perdure.on(rows).register(ECHO).start();
            assertThat(run.result()).isEqualTo("x");
            another.close();
        }
    }

    /** The answer to the claim comes when the test says so. */
    private Store slowToAnswer() {
        Dispatch slow = poll -> {
            Dispatch.Polled polled = rows.dispatch().poll(poll);
            if (!polled.claimed().isEmpty()) {
                claimed.countDown();
                passed(go);
            }
            return polled;
        };
        return (Store) Proxy.newProxyInstance(
                Store.class.getClassLoader(),
                new Class<?>[] {Store.class},
                (proxy, method, arguments) ->
                        method.getName().equals("dispatch") ? slow : method.invoke(rows, arguments));
    }

    private static void passed(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException unwanted) {
            throw new IllegalStateException(unwanted);
        }
    }
}
