package dev.perdure.internal.payload;

import static org.assertj.core.api.Assertions.assertThat;

import dev.perdure.memory.MemoryStore;
import dev.perdure.spi.payload.PayloadReference;
import dev.perdure.spi.payload.PayloadStore;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class PayloadSweepTest {
    @Test
    void one_worker_of_all_looks_at_the_payloads() {
        MemoryStore store = new MemoryStore();
        AtomicInteger looks = new AtomicInteger();
        PayloadStore counting = new ForwardingPayloads(store.payloads()) {
            @Override
            public List<PayloadReference> list(@Nullable PayloadReference after, int limit) {
                looks.incrementAndGet();
                return super.list(after, limit);
            }
        };
        for (int worker = 0; worker < 5; worker++) {
            int unused = new PayloadSweep(counting, store.payloads()).passInTurn(() -> false);
        }
        assertThat(looks).hasValue(1);
    }
}
