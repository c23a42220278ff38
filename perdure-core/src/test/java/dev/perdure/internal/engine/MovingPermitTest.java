package dev.perdure.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Definition;
import dev.perdure.Invocation;
import dev.perdure.Perdure;
import dev.perdure.StepOptions;
import dev.perdure.memory.MemoryStore;
import dev.perdure.queue.Limiter;
import dev.perdure.spi.Permits;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A request for a permit while the partition of the run is closed: the attempt has no place in the line. */
final class MovingPermitTest {
    private static final Limiter PARTNER = Limiter.named("partner").concurrency(1);
    private static final Definition<String, String> WORKFLOW = Definition.of(
            "limited", String.class, String.class, (ctx, in) -> ctx.step("call", () -> in, StepOptions.limit(PARTNER)));

    private final MemoryStore rows = new MemoryStore();
    private final AtomicInteger asked = new AtomicInteger();

    /** As a shard that has closed the partition at the first request and opened it again at the second. */
    private Permits closedOnce() {
        return (Permits) Proxy.newProxyInstance(
                Permits.class.getClassLoader(),
                new Class<?>[] {Permits.class},
                (self, method, arguments) -> method.getName().equals("take") && asked.incrementAndGet() == 1
                        ? List.of(Permits.Answer.MOVING)
                        : method.invoke(rows.permits(), arguments));
    }

    @Test
    void a_step_asks_again_if_its_run_was_about_to_move() {
        try (Perdure engine = Perdure.on(Stores.with(rows, "permits", closedOnce()))
                .register(WORKFLOW)
                .start()) {
            engine.limiters().declare(PARTNER);
            assertThat(engine.start(Invocation.of(WORKFLOW, "x")).result()).isEqualTo("x");
            assertThat(asked).hasValueGreaterThan(1);
        }
    }
}
