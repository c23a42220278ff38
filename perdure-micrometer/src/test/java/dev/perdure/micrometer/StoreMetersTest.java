package dev.perdure.micrometer;

import static dev.perdure.micrometer.PerdureMetricsTest.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.Perdure;
import dev.perdure.memory.MemoryStore;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** How often the gauges of the store read it, by a clock of the test. */
class StoreMetersTest {
    private final AtomicLong now = new AtomicLong();
    /** At which seconds the store was read. */
    private final List<Long> reads = new CopyOnWriteArrayList<>();

    /** An engine whose status takes two seconds. */
    private Perdure slow(Perdure real) {
        return (Perdure) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {Perdure.class}, (self, method, arguments) -> {
                    if (method.getName().equals("status")) {
                        reads.add(Duration.ofNanos(now.get()).toSeconds());
                        now.addAndGet(Duration.ofSeconds(2).toNanos());
                    }
                    return method.invoke(real, arguments);
                });
    }

    @Test
    void a_store_that_takes_long_is_read_more_rarely() {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        StoreMeters meters = new StoreMeters(registry, now::get);
        try (MemoryStore store = new MemoryStore();
                Perdure perdure = Perdure.on(store).client()) {
            meters.opened(slow(perdure));
            until(() -> registry.get("perdure.workers").gauge().value(), 0);
            now.set(Duration.ofSeconds(41).toNanos());
            assertThat(registry.get("perdure.store.age").gauge().value()).isEqualTo(39);
            now.set(Duration.ofSeconds(42).toNanos());
            until(() -> registry.get("perdure.store.age").gauge().value(), 0);
            assertThat(reads).containsExactly(0L, 42L);
        }
    }

    /** An engine that does not reach its store. */
    private static Perdure unreachable(Perdure real) {
        return (Perdure) Proxy.newProxyInstance(
                StoreMetersTest.class.getClassLoader(), new Class<?>[] {Perdure.class}, (self, method, arguments) -> {
                    if (method.getName().equals("status")) {
                        throw new IllegalStateException("out of reach");
                    }
                    return method.invoke(real, arguments);
                });
    }

    @Test
    void a_store_that_was_never_read_has_an_age_so_that_an_alert_on_it_fires() {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        StoreMeters meters = new StoreMeters(registry, now::get);
        assertThat(registry.get("perdure.store.age").gauge().value()).isNaN();
        try (MemoryStore store = new MemoryStore();
                Perdure perdure = Perdure.on(store).client()) {
            now.set(Duration.ofSeconds(10).toNanos());
            meters.opened(unreachable(perdure));
            now.set(Duration.ofSeconds(131).toNanos());
            assertThat(registry.get("perdure.store.age").gauge().value()).isEqualTo(121);
            assertThat(registry.get("perdure.workers").gauge().value()).isNaN();
        }
    }
}
