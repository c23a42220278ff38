package dev.perdure.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.Run;
import dev.perdure.RunState;
import dev.perdure.memory.MemoryStore;
import dev.perdure.spi.Dispatch;
import dev.perdure.spi.Leases;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a worker that closes still has to wait for. */
@Timeout(20)
final class ClosingTest {
    private static final int RENEWALS_OF_TWO_LEASES = 8;

    private static final Definition<String, String> ECHO =
            Definition.of("echo", String.class, String.class, (ctx, in) -> ctx.step("step", () -> in));

    private static Definition<String, String> busy(Runnable gate, AtomicInteger bodies) {
        return Definition.of(
                "busy",
                String.class,
                String.class,
                (ctx, in) -> ctx.step("work", () -> {
                    bodies.incrementAndGet();
                    gate.run();
                    return in;
                }));
    }

    private final MemoryStore rows = new MemoryStore();
    private final Gate gate = new Gate();
    private final AtomicInteger bodies = new AtomicInteger();
    private final AtomicInteger renewals = new AtomicInteger();

    @Test
    void what_was_claimed_meanwhile_is_given_back_and_not_recovered() throws Exception {
        Dispatch slow = poll -> {
            Dispatch.Polled polled = rows.dispatch().poll(poll);
            if (!polled.claimed().isEmpty()) {
                gate.pass();
            }
            return polled;
        };
        try (Perdure client = Perdure.on(rows).register(ECHO).client()) {
            Perdure worker = Perdure.on(Stores.with(rows, "dispatch", slow))
                    .register(ECHO)
                    .start();
            Run<String> run = client.start(Invocation.of(ECHO, "x"));
            gate.awaitSomebody();
            Thread closing = close(worker);
            gate.open();
            closing.join();

            assertThat(run.state()).isEqualTo(RunState.READY);
            assertThat(run.info().recoveries()).isZero();
            Perdure another = Perdure.on(rows).register(ECHO).start();
            assertThat(run.result()).isEqualTo("x");
            another.close();
        }
    }

    @Test
    void the_lease_is_renewed_until_the_last_body_has_ended() throws Exception {
        Leases counted = (Leases) Proxy.newProxyInstance(
                Leases.class.getClassLoader(), new Class<?>[] {Leases.class}, (proxy, method, arguments) -> {
                    renewals.addAndGet(method.getName().equals("renew") ? 1 : 0);
                    return method.invoke(rows.leases(), arguments);
                });
        Definition<String, String> busy = busy(gate::pass, bodies);
        try (Perdure client = Perdure.on(rows).register(busy).client()) {
            Perdure worker = Perdure.on(Stores.with(rows, "leases", counted))
                    .register(busy)
                    .lease(Duration.ofSeconds(1))
                    .start();
            Run<String> run = client.start(Invocation.of(busy, "x"));
            gate.awaitSomebody();
            Thread closing = close(worker);
            renewals.set(0);
            await().until(() -> renewals.get() > RENEWALS_OF_TWO_LEASES);
            gate.open();
            closing.join();

            assertThat(run.result()).isEqualTo("x");
            assertThat(run.info().recoveries()).isZero();
            assertThat(bodies).hasValue(1);
        }
    }

    /** Closes it, up to where it waits. */
    private static Thread close(Perdure worker) {
        Thread closing = Thread.ofPlatform().start(worker::close);
        await().until(() -> closing.getState() == Thread.State.WAITING);
        return closing;
    }
}
